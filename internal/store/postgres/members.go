package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// RaiseEpoch implements hydrate.Archive. Cut off before the records are closed, the guild is not in use yet, and its epoch is raised once more.
func (a *Archive) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State, kept int64) (snapshot.State, error) {
	ctx, cancel := bounded(ctx, "raise_epoch")
	defer cancel()
	s, err := sqlarchive.ScanState(a.pool.QueryRow(ctx, sqlarchive.RaiseEpoch, string(g.ID), int64(g.Incarnation), from.Epoch, from.Archived, kept))
	if err == nil {
		err = a.closeRecords(ctx, g, from.Epoch, kept)
	}
	return s, wrap("raise a guild's epoch", err)
}

// Members implements snapshot.Archive.
func (a *Archive) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error) {
	last, err := a.LastDay(ctx, g)
	if err != nil {
		return nil, err
	}
	ctx, cancel := bounded(ctx, "read_members")
	defer cancel()
	rows, err := a.pool.Query(ctx, `
		SELECT `+sqlarchive.MemberColumns+`, `+sqlarchive.MemberGains("$5::integer")+`
		FROM members JOIN guilds USING (incarnation)
		WHERE guilds.id = $1 AND incarnation = $2 AND user_id > $3 AND NOT deleted
		ORDER BY user_id LIMIT $4`,
		string(g.ID), int64(g.Incarnation), string(after), limit, int64(sqlarchive.SinceDay(last)))
	if err != nil {
		return nil, wrap("read members", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (snapshot.Row, error) { return sqlarchive.ScanMemberGains(row) })
	if err != nil {
		return nil, wrap("read members", err)
	}
	if len(found) == 0 {
		_, err = a.State(ctx, g)
	}
	return found, err
}
