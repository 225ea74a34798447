package sqlarchive

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// memberFields are where a member's columns go, from user_id to NOT present as Members has them.
func memberFields(r *snapshot.Row) []any {
	u := &r.User
	return []any{
		&r.UserID, &r.XP, &r.MessageCount, millis{&r.LastUpdated}, millis{&r.CooldownUntil},
		&u.Avatar, &u.Discriminator, &u.Username, &u.GlobalName, &u.AccentColour, &r.Absent,
	}
}

// State implements snapshot.Archive.
func (c *Catalog) State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error) {
	return one(ctx, c, "read_state", orMissing(snapshot.ErrStale, columns(stateFields)),
		`SELECT epoch, archived, verified FROM guilds WHERE id = $1 AND incarnation = $2`, string(g.ID), int64(g.Incarnation))
}

func stateFields(s *snapshot.State) []any { return []any{&s.Epoch, &s.Archived, &s.Verified} }

// States implements snapshot.Archive. Nobody asks for the state of another incarnation of a guild.
func (c *Catalog) States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]snapshot.State, error) {
	ids := make([]id.Guild, len(guilds))
	for i, g := range guilds {
		ids[i] = g.ID
	}
	states, err := list(ctx, c, "read_states", scanStateOf, `
		SELECT id, incarnation, epoch, archived, verified FROM guilds WHERE id IN (SELECT value ->> 0 FROM jsonb_each($1))`, jsonList(ids))
	return statesOf(states), err
}

type stateOf struct {
	guild leaderboard.GuildRef
	snapshot.State
}

var scanStateOf = columns(func(s *stateOf) []any {
	return append([]any{&s.guild.ID, &s.guild.Incarnation}, stateFields(&s.State)...)
})

func statesOf(list []stateOf) map[leaderboard.GuildRef]snapshot.State {
	states := make(map[leaderboard.GuildRef]snapshot.State, len(list))
	for _, s := range list {
		states[s.guild] = s.State
	}
	return states
}

// RaiseEpoch implements hydrate.Archive. Cut off, it changes nothing.
func (c *Catalog) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State, kept int64) (snapshot.State, error) {
	type raised struct {
		snapshot.State
		open bool // most guilds have no open record, and need no second statement
	}
	var r raised
	err := c.inTx(ctx, "raise_epoch", func(t *tx) {
		var exists bool
		r, exists = readRow(t, columns(func(r *raised) []any { return append(stateFields(&r.State), &r.open) }), `
			UPDATE guilds SET epoch = epoch + 1, verified = CASE WHEN $5 >= 0 THEN verified + 1 ELSE 0 END
			WHERE id = $1 AND incarnation = $2 AND epoch = $3 AND archived = $4
			RETURNING epoch, archived, verified, coalesce((SELECT max(rev) FROM requests WHERE incarnation + 0 = $2 AND rev IS NOT NULL) > $5, false)`,
			string(g.ID), int64(g.Incarnation), from.Epoch, from.Archived, kept)
		if !exists {
			t.fail(snapshot.ErrStale)
		}
		if r.open {
			t.closeRecords(g, kept)
		}
	})
	if err != nil {
		return snapshot.State{}, err
	}
	return r.State, nil
}

// Members implements snapshot.Archive. Where nobody gained anything, gains cost nothing.
func (c *Catalog) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error) {
	found, err := list(ctx, c, "read_members", func(row Row) (snapshot.Row, error) {
		var r snapshot.Row
		var gains string
		err := row.Scan(append(memberFields(&r), &gains)...)
		if err == nil {
			r.Gains, err = period.ParseGains(gains)
		}
		return r, err
	}, `
		WITH newest AS (SELECT coalesce((SELECT day + 0 FROM gains WHERE incarnation + 0 = $2 ORDER BY day + 0 DESC LIMIT 1), 0) AS day)
		SELECT user_id, xp, message_count, updated_ms, cooldown_ms, avatar, discriminator, username, global_name, accent_colour, NOT present,
			CASE WHEN newest.day = 0 THEN '' ELSE coalesce((
				SELECT string_agg(g.day || ':' || gained, ',' ORDER BY g.day DESC) FROM gains AS g
				WHERE g.incarnation = $2 AND g.user_id = m.user_id AND g.day > newest.day - 3), '') END
		FROM newest CROSS JOIN guilds CROSS JOIN members AS m
		WHERE guilds.id = $1 AND guilds.incarnation = $2 AND m.incarnation = $2 AND user_id > $3 AND NOT deleted
		ORDER BY user_id LIMIT $4`, string(g.ID), int64(g.Incarnation), string(after), limit)
	if err == nil && len(found) == 0 {
		_, err = c.State(ctx, g)
	}
	return found, err
}

// LastDay implements hydrate.Archive.
func (c *Catalog) LastDay(ctx context.Context, g leaderboard.GuildRef) (period.Day, error) {
	return one(ctx, c, "read_last_day", scanValue[period.Day],
		`SELECT coalesce((SELECT day + 0 FROM gains WHERE incarnation + 0 = $1 ORDER BY day + 0 DESC LIMIT 1), 0)`, int64(g.Incarnation))
}

// History implements periods.Archive.
func (c *Catalog) History(ctx context.Context, g leaderboard.GuildRef, user id.User, first period.Day) ([]period.Gain, error) {
	return list(ctx, c, "read_gains", columns(func(g *period.Gain) []any { return []any{&g.Day, &g.Gained} }),
		`SELECT day, gained FROM gains WHERE incarnation = $1 AND user_id = $2 AND day >= $3 ORDER BY day`,
		int64(g.Incarnation), string(user), int64(first))
}

// GainedOn implements hydrate.Archive. The sums are read by the primary key, for a page of members.
func (c *Catalog) GainedOn(ctx context.Context, g leaderboard.GuildRef, from, to id.User, boards period.Boards) (map[id.User][]int64, error) {
	type sums struct {
		user   id.User
		gained [4]int64
	}
	args := []any{int64(g.Incarnation), string(from), string(to), int64(boards.First())}
	for _, p := range boards.Periods {
		args = append(args, int64(p.First), int64(p.End))
	}
	rows, err := list(ctx, c, "sum_gains", columns(func(s *sums) []any {
		return []any{&s.user, &s.gained[0], &s.gained[1], &s.gained[2], &s.gained[3]}
	}), `
		SELECT user_id,
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $5 AND day < $6), 0) AS bigint),
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $7 AND day < $8), 0) AS bigint),
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $9 AND day < $10), 0) AS bigint),
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $11 AND day < $12), 0) AS bigint)
		FROM gains WHERE incarnation = $1 AND user_id >= $2 AND user_id <= $3 AND day >= $4
		GROUP BY user_id`, args...)
	found := make(map[id.User][]int64, len(rows))
	for _, s := range rows {
		found[s.user] = s.gained[:]
	}
	return found, err
}
