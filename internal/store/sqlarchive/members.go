package sqlarchive

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// scanMember reads a member's columns, from user_id to NOT present as Members does, and columns after them.
func scanMember(row Row, after ...any) (r snapshot.Row, err error) {
	var updated, cooldown *int64
	u := &r.User
	err = row.Scan(append([]any{
		&r.UserID, &r.XP, &r.MessageCount, &updated, &cooldown,
		&u.Avatar, &u.Discriminator, &u.Username, &u.GlobalName, &u.AccentColour, &r.Absent,
	}, after...)...)
	r.LastUpdated, r.CooldownUntil = fromMillis(updated), fromMillis(cooldown)
	return r, err
}

// State implements snapshot.Archive.
func (c *Catalog) State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error) {
	return one(ctx, c, "read_state", func(row Row) (snapshot.State, error) { return scanState(row) }, `SELECT epoch, archived, verified FROM guilds WHERE id = $1 AND incarnation = $2`,
		string(g.ID), int64(g.Incarnation))
}

// States implements snapshot.Archive. Nobody asks for the state of another incarnation of a guild.
func (c *Catalog) States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]snapshot.State, error) {
	ids := make([]id.Guild, len(guilds))
	for i, g := range guilds {
		ids[i] = g.ID
	}
	return statesOf(list(ctx, c, "read_states", scanStateOf, `
		SELECT id, incarnation, epoch, archived, verified FROM guilds WHERE id IN (SELECT value ->> 0 FROM jsonb_each($1))`, jsonList(ids)))
}

type stateOf struct {
	guild leaderboard.GuildRef
	snapshot.State
}

func scanStateOf(row Row) (s stateOf, err error) {
	err = row.Scan(&s.guild.ID, &s.guild.Incarnation, &s.Epoch, &s.Archived, &s.Verified)
	return s, err
}

func statesOf(list []stateOf, err error) (map[leaderboard.GuildRef]snapshot.State, error) {
	states := make(map[leaderboard.GuildRef]snapshot.State, len(list))
	for _, s := range list {
		states[s.guild] = s.State
	}
	return states, err
}

// RaiseEpoch implements hydrate.Archive. Cut off, it changes nothing.
func (c *Catalog) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State, kept int64) (s snapshot.State, err error) {
	err = c.inTx(ctx, "raise_epoch", func(ctx context.Context, tx *sql.Tx) error {
		var open bool // most guilds have no open record, and need no second statement
		s, err = scanState(tx.QueryRowContext(ctx, `
			UPDATE guilds SET epoch = epoch + 1, verified = CASE WHEN $5 >= 0 THEN verified + 1 ELSE 0 END
			WHERE id = $1 AND incarnation = $2 AND epoch = $3 AND archived = $4
			RETURNING epoch, archived, verified, coalesce((SELECT max(rev) FROM requests WHERE incarnation + 0 = $2 AND rev IS NOT NULL) > $5, false)`,
			string(g.ID), int64(g.Incarnation), from.Epoch, from.Archived, kept), &open)
		if err != nil || !open {
			return err
		}
		return closeRecords(ctx, tx, g, kept)
	})
	if err != nil {
		return snapshot.State{}, err
	}
	return s, nil
}

// Members implements snapshot.Archive. Where nobody gained anything, gains cost nothing.
func (c *Catalog) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error) {
	found, err := list(ctx, c, "read_members", func(row Row) (snapshot.Row, error) {
		var gains string
		r, err := scanMember(row, &gains)
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

// scanState reads epoch, archived and verified, and columns after them. It returns snapshot.ErrStale when there is no row.
func scanState(row Row, after ...any) (s snapshot.State, err error) {
	err = row.Scan(append([]any{&s.Epoch, &s.Archived, &s.Verified}, after...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return snapshot.State{}, snapshot.ErrStale
	}
	return s, err
}

// Millis is t as the tables hold it, and nil for the zero time.
func Millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}

// fromMillis is the time that Millis made ms of.
func fromMillis(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms).UTC()
}
