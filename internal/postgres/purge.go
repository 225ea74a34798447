package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/leaderboard"
)

// logKeep is how long entries of the change log stay; a follower that was away for longer starts anew.
const logKeep = 24 * time.Hour

// Purge deletes at most limit rows that nothing needs any more: members of deleted guilds, tombstones written longer ago
// than keep, and entries of the change log that are older than a day, except for the newest. It returns how many. Rows
// that another transaction holds are left for the next time, so it never waits and many replicas may call it.
func (a *Archive) Purge(ctx context.Context, limit int, keep time.Duration) (purged int, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	for _, part := range []func(ctx context.Context, limit int) (int, error){
		a.purgeDeletedGuilds,
		func(ctx context.Context, limit int) (int, error) {
			return a.purgeMembers(ctx, `deleted AND written_ms <= `+nowMS+` - $2`, limit, keep.Milliseconds())
		},
		a.purgeLog,
	} {
		if purged >= limit {
			return purged, nil
		}
		n, err := part(ctx, limit-purged)
		purged += n
		if err != nil {
			return purged, wrap("purge", err)
		}
	}
	return purged, nil
}

// Deleted lists deleted guilds whose members are not all purged yet, the ones deleted longest ago first, at most limit.
func (a *Archive) Deleted(ctx context.Context, limit int) ([]leaderboard.GuildRef, error) {
	rows, err := a.pool.Query(ctx, `SELECT guild_id, incarnation FROM deleted_guilds ORDER BY deleted_ms LIMIT $1`, limit)
	if err != nil {
		return nil, wrap("list deleted guilds", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[leaderboard.GuildRef])
	return found, wrap("list deleted guilds", err)
}

func (a *Archive) purgeDeletedGuilds(ctx context.Context, limit int) (purged int, err error) {
	rows, err := a.pool.Query(ctx, `SELECT incarnation FROM deleted_guilds ORDER BY deleted_ms LIMIT 100`)
	if err != nil {
		return 0, err
	}
	incarnations, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return 0, err
	}
	for _, incarnation := range incarnations {
		n, err := a.purgeMembers(ctx, `incarnation = $2`, limit-purged, incarnation)
		purged += n
		if err != nil || purged >= limit {
			return purged, err
		}
		// Rows may be left that another replica is about to delete; then the guild stays in the list.
		_, err = a.pool.Exec(ctx, `
			DELETE FROM deleted_guilds d
			WHERE incarnation = $1 AND NOT EXISTS (SELECT FROM members m WHERE m.incarnation = d.incarnation)`, incarnation)
		if err != nil {
			return purged, err
		}
	}
	return purged, nil
}

// purgeMembers deletes at most limit members that the condition, on $2, holds for.
func (a *Archive) purgeMembers(ctx context.Context, condition string, limit int, arg int64) (int, error) {
	done, err := a.pool.Exec(ctx, `
		DELETE FROM members WHERE ctid = ANY (ARRAY(
			SELECT ctid FROM members WHERE `+condition+` LIMIT $1 FOR UPDATE SKIP LOCKED))`, limit, arg)
	return int(done.RowsAffected()), err
}

// purgeLog deletes from the beginning of the log only, so that what is left has no gap within, whatever the clock did.
func (a *Archive) purgeLog(ctx context.Context, limit int) (int, error) {
	done, err := a.pool.Exec(ctx, `
		DELETE FROM change_log WHERE version IN (
			SELECT version FROM change_log
			WHERE version < COALESCE(
				(SELECT min(version) FROM change_log WHERE logged_ms > `+nowMS+` - $2), (SELECT max(version) FROM change_log))
			ORDER BY version LIMIT $1)`, limit, logKeep.Milliseconds())
	return int(done.RowsAffected()), err
}
