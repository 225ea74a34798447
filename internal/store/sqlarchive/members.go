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

// RaiseEpoch implements hydrate.Archive. If it is cut off after the first statement, the epoch is raised, and the next load, which raises it again,
// makes up for the second one.
func (c *Catalog) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State, kept int64) (snapshot.State, error) {
	ctx, cancel := c.Bound(ctx, "raise_epoch")
	defer cancel()
	type raised struct {
		snapshot.State
		open bool // most guilds have no open record, and need no second statement
	}
	r, err := orMissing(snapshot.ErrStale, columns(func(r *raised) []any { return append(stateFields(&r.State), &r.open) }))(c.Writer.QueryRowContext(ctx, `
		UPDATE guilds SET epoch = epoch + 1, verified = CASE WHEN $5 >= 0 THEN verified + 1 ELSE 0 END
		WHERE id = $1 AND incarnation = $2 AND epoch = $3 AND archived = $4
		RETURNING epoch, archived, verified, coalesce((SELECT max(rev) FROM requests WHERE incarnation + 0 = $2 AND rev IS NOT NULL) > $5, false)`,
		string(g.ID), int64(g.Incarnation), from.Epoch, from.Archived, kept))
	if err == nil && r.open { // what those requests lost that are not known to be archived, but for those up to the rev that was kept
		_, err = c.Writer.ExecContext(ctx, `
			UPDATE requests SET epoch = NULL, rev = NULL, lost = coalesce((
				SELECT string_agg(u.value ->> 0, ' ') FROM jsonb_each('[["' || replace(users, ' ', '"],["') || '"]]') AS u
				WHERE u.value ->> 0 <> '' AND coalesce((
					SELECT (m.epoch, m.rev) < (requests.epoch, requests.rev) FROM members AS m
					WHERE m.incarnation = requests.incarnation AND m.user_id = u.value ->> 0), true)), '')
			WHERE incarnation + 0 = $1 AND rev > $2`, int64(g.Incarnation), kept)
	}
	return r.State, Wrap(c.Name, "raise_epoch", err)
}

// Members implements snapshot.Archive.
func (c *Catalog) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error) {
	found, err := list(ctx, c, "read_members", columns(memberFields), `
		SELECT user_id, xp, message_count, updated_ms, cooldown_ms, avatar, discriminator, username, global_name, accent_colour, NOT present
		FROM guilds CROSS JOIN members AS m
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

// AddGains implements hydrate.Archive. The gains are read by the primary key.
func (c *Catalog) AddGains(ctx context.Context, g leaderboard.GuildRef, rows []snapshot.Row, last period.Day, boards *period.Boards) error {
	first := last - 2
	args := []any{int64(g.Incarnation), string(rows[0].UserID), string(rows[len(rows)-1].UserID), int64(first)}
	periods := [4]period.Period{}
	if boards != nil {
		periods, first = boards.Periods, min(first, boards.First())
	}
	args = append(args, int64(first))
	for _, p := range periods {
		args = append(args, int64(p.First), int64(p.End))
	}
	type gains struct {
		user id.User
		days string
		on   [4]int64
	}
	all, err := list(ctx, c, "read_gains", columns(func(g *gains) []any { return []any{&g.user, &g.days, &g.on[0], &g.on[1], &g.on[2], &g.on[3]} }), `
		SELECT user_id, coalesce(string_agg(day || ':' || gained, ',' ORDER BY day DESC) FILTER (WHERE day >= $4), ''),
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $6 AND day < $7), 0) AS bigint),
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $8 AND day < $9), 0) AS bigint),
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $10 AND day < $11), 0) AS bigint),
			CAST(coalesce(sum(gained) FILTER (WHERE day >= $12 AND day < $13), 0) AS bigint)
		FROM gains WHERE incarnation = $1 AND user_id >= $2 AND user_id <= $3 AND day >= $5
		GROUP BY user_id`, args...)
	of := make(map[id.User]*gains, len(all))
	for i := range all {
		of[all[i].user] = &all[i]
	}
	for i := range rows {
		if found := of[rows[i].UserID]; found != nil && err == nil {
			if boards != nil {
				rows[i].OnBoards = found.on[:]
			}
			rows[i].Gains, err = period.ParseGains(found.days)
		}
	}
	return err
}
