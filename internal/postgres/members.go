package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
	"levelboard/internal/snapshot"
)

// State reads a guild's counters; snapshot.ErrStale when this incarnation does not exist.
func (a *Archive) State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	s, err := scanState(a.pool.QueryRow(ctx,
		`SELECT epoch, archived FROM guilds WHERE id = $1 AND incarnation = $2`, string(g.ID), int64(g.Incarnation)))
	return s, wrap("read a guild's state", err)
}

func scanState(row pgx.Row) (s snapshot.State, err error) {
	err = row.Scan(&s.Epoch, &s.Archived)
	if errors.Is(err, pgx.ErrNoRows) {
		return snapshot.State{}, snapshot.ErrStale
	}
	return s, err
}

// RaiseEpoch raises the epoch by one if the guild's state still is from, in one statement. snapshot.ErrStale when the
// incarnation is gone or its state is another one.
func (a *Archive) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State) (snapshot.State, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	s, err := scanState(a.pool.QueryRow(ctx, `
		UPDATE guilds SET epoch = epoch + 1 WHERE id = $1 AND incarnation = $2 AND epoch = $3 AND archived = $4
		RETURNING epoch, archived`,
		string(g.ID), int64(g.Incarnation), from.Epoch, from.Archived))
	return s, wrap("raise a guild's epoch", err)
}

// Members reads the guild's members (no tombstones) in ascending order of their ids, after the id after ("" from the
// start), at most limit. snapshot.ErrStale when this incarnation does not exist.
func (a *Archive) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := a.pool.Query(ctx, `
		SELECT user_id, xp, message_count, updated_ms, cooldown_ms, avatar, discriminator, username, global_name, accent_colour
		FROM members JOIN guilds USING (incarnation)
		WHERE guilds.id = $1 AND incarnation = $2 AND user_id > $3 AND NOT deleted
		ORDER BY user_id LIMIT $4`,
		string(g.ID), int64(g.Incarnation), string(after), limit)
	if err != nil {
		return nil, wrap("read members", err)
	}
	found, err := pgx.CollectRows(rows, scanMember)
	if err != nil {
		return nil, wrap("read members", err)
	}
	if len(found) == 0 {
		_, err = a.State(ctx, g)
	}
	return found, err
}

func scanMember(row pgx.CollectableRow) (r snapshot.Row, err error) {
	var updated, cooldown *int64
	u := &r.User
	err = row.Scan(&r.UserID, &r.XP, &r.MessageCount, &updated, &cooldown,
		&u.Avatar, &u.Discriminator, &u.Username, &u.GlobalName, &u.AccentColour)
	r.LastUpdated, r.CooldownUntil = fromMillis(updated), fromMillis(cooldown)
	return r, err
}
