package sqlarchive

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// MemberColumns are what scanMember reads.
const MemberColumns = `user_id, xp, message_count, updated_ms, cooldown_ms, avatar, discriminator, username, global_name, accent_colour, NOT present`

// scanMember reads MemberColumns, and columns after them.
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
	return one(ctx, c, "read_state", ScanState, `SELECT epoch, archived, verified FROM guilds WHERE id = $1 AND incarnation = $2`,
		string(g.ID), int64(g.Incarnation))
}

// States implements snapshot.Archive. It is one query.
func (c *Catalog) States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]snapshot.State, error) {
	ids := make([]id.Guild, len(guilds))
	for i, g := range guilds {
		ids[i] = g.ID
	}
	type state struct {
		guild leaderboard.GuildRef
		snapshot.State
	}
	all, err := list(ctx, c, "read_states", func(row Row) (s state, err error) {
		err = row.Scan(&s.guild.ID, &s.guild.Incarnation, &s.Epoch, &s.Archived, &s.Verified)
		return s, err
	}, `SELECT id, incarnation, epoch, archived, verified FROM guilds WHERE id `+c.In("$1"), jsonList(ids))
	states, found := map[leaderboard.GuildRef]snapshot.State{}, map[leaderboard.GuildRef]snapshot.State{}
	for _, s := range all {
		states[s.guild] = s.State
	}
	for _, g := range guilds { // another incarnation is another guild
		if s, ok := states[g]; ok {
			found[g] = s
		}
	}
	return found, err
}

// RaiseEpoch raises the epoch of the guild $1 of the incarnation $2 if its state is epoch $3 and archived $4. $5 is the rev up to which the live store
// kept its changes; below 0 it did not.
const RaiseEpoch = `
	UPDATE guilds SET epoch = epoch + 1, verified = CASE WHEN $5 >= 0 THEN verified + 1 ELSE 0 END
	WHERE id = $1 AND incarnation = $2 AND epoch = $3 AND archived = $4
	RETURNING epoch, archived, verified`

// ScanState reads epoch, archived and verified. It returns snapshot.ErrStale when there is no row.
func ScanState(row Row) (s snapshot.State, err error) {
	err = row.Scan(&s.Epoch, &s.Archived, &s.Verified)
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
