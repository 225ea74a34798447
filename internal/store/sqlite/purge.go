package sqlite

import (
	"context"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/snapshot"
)

// purgeStep bounds one transaction, during which nothing else can be written.
const purgeStep = 2000

// Purge implements snapshot.Archive.
func (a *Archive) Purge(ctx context.Context, limit int, keep snapshot.Keep) (purged int, err error) {
	now := nowMS()
	for _, part := range []struct {
		statement string
		args      []any
	}{
		{`DELETE FROM members WHERE (incarnation, user_id) IN (
			SELECT m.incarnation, m.user_id FROM deleted_guilds CROSS JOIN members m USING (incarnation) LIMIT ?1)`, nil},
		{`DELETE FROM members WHERE (incarnation, user_id) IN (
			SELECT incarnation, user_id FROM members INDEXED BY members_tombstones
			WHERE deleted AND written_ms <= ?2 LIMIT ?1)`, []any{now - keep.Tombstones.Milliseconds()}},
		// From the beginning of the log only, so that what is left has no gap within, whatever the clock did.
		{`DELETE FROM change_log WHERE version IN (
			SELECT version FROM change_log WHERE version < COALESCE(
				(SELECT min(version) FROM change_log WHERE logged_ms > ?2), (SELECT max(version) FROM change_log))
			ORDER BY version LIMIT ?1)`, []any{now - sqlarchive.LogTime.Milliseconds()}},
		{`DELETE FROM key_use WHERE (key_id, hour) IN (SELECT key_id, hour FROM key_use WHERE hour + 0 <= ?2 LIMIT ?1)`,
			[]any{now/time.Hour.Milliseconds() - sqlarchive.UseHours}},
		{`DELETE FROM key_use_flushes WHERE replica IN (SELECT replica FROM key_use_flushes WHERE at_ms <= ?2 LIMIT ?1)`,
			[]any{now - sqlarchive.FlushTime.Milliseconds()}},
		{`DELETE FROM key_old_secrets WHERE (key_id, hash) IN (
			SELECT key_id, hash FROM key_old_secrets WHERE until_ms <= ?2 LIMIT ?1)`, []any{now}},
		{`DELETE FROM requests WHERE (incarnation, name) IN (SELECT incarnation, name FROM requests WHERE made_ms <= ?2 LIMIT ?1)`,
			[]any{now - sqlarchive.RequestAge(keep).Milliseconds()}},
		{`DELETE FROM key_records WHERE number IN (SELECT number FROM key_records WHERE at_ms <= ?2 LIMIT ?1)`,
			[]any{now - apikey.HistoryTime.Milliseconds()}},
	} {
		n, err := a.deleteInSteps(ctx, part.statement, limit-purged, part.args)
		purged += n
		if err != nil {
			return purged, wrap("purge", err)
		}
	}
	n, err := a.purgePeriods(ctx, limit-purged, keep)
	purged += n
	if err != nil {
		return purged, wrap("purge", err)
	}
	_, err = a.writer.ExecContext(ctx, `
		DELETE FROM deleted_guilds AS d
		WHERE NOT EXISTS (SELECT 1 FROM members m WHERE m.incarnation = d.incarnation)`+sqlarchive.NothingLeft)
	return purged, wrap("purge", err)
}

// purgePeriods purges gains and periods, of deleted guilds first.
func (a *Archive) purgePeriods(ctx context.Context, limit int, keep snapshot.Keep) (purged int, err error) {
	deleted, err := a.Deleted(ctx, purgeStep)
	if err != nil {
		return 0, err
	}
	for _, g := range deleted {
		n, err := inSteps(limit-purged, func(step int) (int, error) { return a.PurgePeriods(ctx, step, int64(g.Incarnation)) })
		purged += n
		if err != nil {
			return purged, err
		}
	}
	n, err := inSteps(limit-purged, func(step int) (int, error) { return a.PurgeHistory(ctx, step, keep) })
	return purged + n, err
}

// inSteps calls purge with a bound of each step until it deleted limit rows or there are no more.
func inSteps(limit int, purge func(step int) (int, error)) (deleted int, err error) {
	for deleted < limit {
		step := min(purgeStep, limit-deleted)
		n, err := purge(step)
		deleted += n
		if err != nil || n < step {
			return deleted, err
		}
	}
	return deleted, nil
}

// deleteInSteps repeats a statement, whose parameters are a number of rows and args, until it deleted limit rows or no more.
func (a *Archive) deleteInSteps(ctx context.Context, statement string, limit int, args []any) (deleted int, err error) {
	return inSteps(limit, func(step int) (int, error) {
		done, err := a.writer.ExecContext(ctx, statement, append([]any{step}, args...)...)
		if err != nil {
			return 0, err
		}
		n, err := done.RowsAffected()
		return int(n), err
	})
}
