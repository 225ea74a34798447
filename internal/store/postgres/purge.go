package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/snapshot"
)

// Purge implements snapshot.Archive. Rows that another transaction holds are left for the next time, so it never waits and many
// replicas may call it.
func (a *Archive) Purge(ctx context.Context, limit int, keep snapshot.Keep) (purged int, err error) {
	ctx, cancel := bounded(ctx, "purge")
	defer cancel()
	for _, part := range []func(ctx context.Context, limit int) (int, error){
		a.purgeDeletedGuilds,
		a.purgeRows("members", `deleted AND written_ms <= `+nowMS+` - $2`, keep.Tombstones.Milliseconds()),
		a.purgeLog,
		a.purgeRows("key_use", `hour + 0 <= `+nowMS+` / 3600000 - $2`, sqlarchive.UseHours),
		a.purgeRows("key_use_flushes", `at_ms <= `+nowMS+` - $2`, sqlarchive.FlushTime.Milliseconds()),
		a.purgeRows("key_old_secrets", `until_ms <= `+nowMS+` - $2`, 0),
		a.purgeRows("requests", `made_ms <= `+nowMS+` - $2`, sqlarchive.RequestAge(keep).Milliseconds()),
		a.purgeRows("key_records", `at_ms <= `+nowMS+` - $2`, apikey.HistoryTime.Milliseconds()),
		func(ctx context.Context, limit int) (int, error) { return a.PurgeHistory(ctx, limit, keep) },
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
		for _, part := range []func(ctx context.Context, limit int) (int, error){
			a.purgeRows("members", `incarnation = $2`, incarnation),
			func(ctx context.Context, limit int) (int, error) { return a.PurgePeriods(ctx, limit, incarnation) },
		} {
			n, err := part(ctx, limit-purged)
			purged += n
			if err != nil || purged >= limit {
				return purged, err
			}
		}
		// Rows may be left that another replica is about to delete; then the guild stays in the list.
		_, err = a.pool.Exec(ctx, `
			DELETE FROM deleted_guilds d
			WHERE incarnation = $1 AND NOT EXISTS (SELECT FROM members m WHERE m.incarnation = d.incarnation)`+sqlarchive.NothingLeft, incarnation)
		if err != nil {
			return purged, err
		}
	}
	return purged, nil
}

// purgeRows deletes rows that the condition, on $2, holds for.
func (a *Archive) purgeRows(table, condition string, arg int64) func(ctx context.Context, limit int) (int, error) {
	return func(ctx context.Context, limit int) (int, error) {
		done, err := a.pool.Exec(ctx, dialect.Delete(table, "", condition), limit, arg)
		return int(done.RowsAffected()), err
	}
}

// purgeLog deletes from the beginning of the log only, so that what is left has no gap within, whatever the clock did.
func (a *Archive) purgeLog(ctx context.Context, limit int) (int, error) {
	done, err := a.pool.Exec(ctx, `
		DELETE FROM change_log WHERE version IN (
			SELECT version FROM change_log
			WHERE version < COALESCE(
				(SELECT min(version) FROM change_log WHERE logged_ms > `+nowMS+` - $2), (SELECT max(version) FROM change_log))
			ORDER BY version LIMIT $1)`, limit, sqlarchive.LogTime.Milliseconds())
	return int(done.RowsAffected()), err
}
