package sqlarchive

import (
	"cmp"
	"context"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/snapshot"
)

const (
	// logTime is how long entries of the change log are kept; a follower that was away for longer starts again.
	logTime = 24 * time.Hour
	// useHours is how many hours of the use of keys stay: a day, and one for clocks that differ.
	useHours = apikey.HoursOfDay + 1
	// allTime keeps everything.
	allTime = 100 * 365 * 24 * time.Hour
	// purgeStep bounds one statement: while SQLite runs it, nothing else can be written.
	purgeStep = 2000
	// purgePage is how many guilds or periods are looked at together.
	purgePage = 200
)

// Purge implements snapshot.Archive. Rows that another transaction holds are left for the next time, so it never waits and many replicas may call it.
func (c *Catalog) Purge(ctx context.Context, limit int, keep snapshot.Keep) (purged int, err error) {
	ctx, cancel := c.Bound(ctx, "purge")
	defer cancel()
	p := purge{Catalog: c, left: limit}
	p.deletedGuilds(ctx)
	p.delete(ctx, `DELETE FROM members WHERE (incarnation, user_id) IN (
		SELECT incarnation, user_id FROM members WHERE deleted AND written_ms <= now_ms() - $2 LIMIT $1 FOR UPDATE SKIP LOCKED)`, keep.Tombstones.Milliseconds())
	// Only from the beginning of the log, so that the rest has no gap, whatever the clock did.
	p.delete(ctx, `DELETE FROM change_log WHERE version IN (
		SELECT version FROM change_log
		WHERE version < coalesce((SELECT min(version) FROM change_log WHERE logged_ms > now_ms() - $2), (SELECT max(version) FROM change_log))
		ORDER BY version LIMIT $1)`, logTime.Milliseconds())
	p.delete(ctx, `DELETE FROM key_use WHERE (key_id, hour) IN (
		SELECT key_id, hour FROM key_use WHERE hour + 0 <= now_ms() / 3600000 - $2 LIMIT $1 FOR UPDATE SKIP LOCKED)`, useHours)
	p.delete(ctx, `DELETE FROM key_old_secrets WHERE (key_id, hash) IN (
		SELECT key_id, hash FROM key_old_secrets WHERE until_ms <= now_ms() LIMIT $1 FOR UPDATE SKIP LOCKED)`)
	p.delete(ctx, `DELETE FROM requests WHERE (incarnation, name) IN (
		SELECT incarnation, name FROM requests WHERE made_ms <= now_ms() - $2 LIMIT $1 FOR UPDATE SKIP LOCKED)`, cmp.Or(keep.Requests, allTime).Milliseconds())
	p.delete(ctx, `DELETE FROM key_records WHERE number IN (
		SELECT number FROM key_records WHERE at_ms <= now_ms() - $2 LIMIT $1 FOR UPDATE SKIP LOCKED)`, apikey.HistoryTime.Milliseconds())
	p.history(ctx, keep)
	return limit - p.left, Wrap(c.Name, "purge", p.err)
}

// purge has the rest of a call's deletions. After its first error it does nothing more.
type purge struct {
	*Catalog
	left int
	err  error
}

// delete repeats a statement that deletes at most $1 rows, until none is left or the limit is reached. It reports the former.
func (p *purge) delete(ctx context.Context, statement string, args ...any) (done bool) {
	for p.err == nil && p.left > 0 {
		step := min(p.left, purgeStep)
		if p.exec(ctx, p.sql(statement), append([]any{step}, args...)...) < step {
			return p.err == nil
		}
	}
	return false
}

func (p *purge) exec(ctx context.Context, statement string, args ...any) (changed int) {
	if p.err != nil {
		return 0
	}
	done, err := p.Writer.ExecContext(ctx, statement, args...)
	if err == nil {
		var n int64
		n, err = done.RowsAffected()
		changed = int(n)
		p.left -= changed
	}
	p.err = err
	return changed
}

// deletedGuilds deletes the rows of deleted guilds and of replaced members. A guild that was restored or reset has another incarnation and the same
// audit log. Another replica may be about to delete the remaining rows; then the guild stays in the list.
func (p *purge) deletedGuilds(ctx context.Context) {
	guilds, err := p.Deleted(ctx, purgePage)
	p.err = err
	for _, g := range guilds {
		of := int64(g.Incarnation)
		p.delete(ctx, `DELETE FROM members WHERE (incarnation, user_id) IN (
			SELECT incarnation, user_id FROM members WHERE incarnation = $2 LIMIT $1 FOR UPDATE SKIP LOCKED)`, of)
		p.delete(ctx, `DELETE FROM imports WHERE (incarnation, files) IN (
			SELECT incarnation, files FROM imports WHERE incarnation = $2 LIMIT $1 FOR UPDATE SKIP LOCKED)`, of)
		p.delete(ctx, `DELETE FROM audit WHERE (log, at_ms, number) IN (
			SELECT log, at_ms, number FROM audit WHERE log = $2 AND NOT EXISTS (SELECT 1 FROM guilds WHERE audit_log = $2) LIMIT $1 FOR UPDATE SKIP LOCKED)`, of)
		p.delete(ctx, `DELETE FROM gains WHERE (incarnation, user_id, day) IN (
			SELECT incarnation, user_id, day FROM gains WHERE incarnation = $2 LIMIT $1 FOR UPDATE SKIP LOCKED)`, of)
		p.delete(ctx, `DELETE FROM standings WHERE (period, rank) IN (
			SELECT period, rank FROM standings WHERE period IN (SELECT number FROM periods WHERE incarnation = $2) LIMIT $1 FOR UPDATE SKIP LOCKED)`, of)
		p.delete(ctx, `DELETE FROM periods WHERE number IN (
			SELECT number FROM periods WHERE incarnation = $2 AND NOT EXISTS (SELECT 1 FROM standings WHERE period = number)
			LIMIT $1 FOR UPDATE SKIP LOCKED)`, of)
		if p.err == nil && p.left > 0 {
			_, p.err = p.Writer.ExecContext(ctx, `
				DELETE FROM deleted_guilds WHERE incarnation = $1
				AND NOT EXISTS (SELECT 1 FROM members WHERE incarnation = $1) AND NOT EXISTS (SELECT 1 FROM imports WHERE incarnation = $1)
				AND (EXISTS (SELECT 1 FROM guilds WHERE audit_log = $1) OR NOT EXISTS (SELECT 1 FROM audit WHERE log = $1))
				AND NOT EXISTS (SELECT 1 FROM gains WHERE incarnation = $1) AND NOT EXISTS (SELECT 1 FROM periods WHERE incarnation = $1)`, of)
		}
	}
}

// history deletes rows that snapshot.Keep.History and Keep.Audit do not keep. What it notes of a guild or a period counts as a row.
func (p *purge) history(ctx context.Context, keep snapshot.Keep) {
	now, days := time.Now(), keep.History
	if keep.Audit > 0 {
		p.delete(ctx, `DELETE FROM audit WHERE (log, at_ms, number) IN (
			SELECT log, at_ms, number FROM audit WHERE at_ms + 0 < $2 LIMIT $1 FOR UPDATE SKIP LOCKED)`, now.AddDate(0, 0, -keep.Audit).UnixMilli())
	}
	if days <= 0 {
		return
	}
	p.expireCheckpoints(ctx, now.Add(-checkpoints.AutomaticTime).UnixMilli())
	p.pages(func() int { return p.oldGains(ctx, period.DayAt(now, time.UTC)-1-period.Day(days)) })
	p.pages(func() int { return p.oldPeriods(ctx, now.AddDate(0, 0, -days).UnixMilli()) })
}

// expireCheckpoints forgets automatic checkpoints of before a time.
func (p *purge) expireCheckpoints(ctx context.Context, before int64) {
	if p.err != nil || p.left <= 0 {
		return
	}
	p.err = p.transact(ctx, func(t *tx) {
		t.dropCheckpoints(`SELECT incarnation FROM checkpoints WHERE automatic AND created_ms < $1 ORDER BY created_ms LIMIT $2`, before, purgePage)
	})
}

// pages looks at one page after the other, until one is not full, the limit is reached, or a whole page is left for later: another replica has it.
func (p *purge) pages(look func() (found int)) {
	for p.err == nil && p.left > 0 {
		left := p.left
		if look() < purgePage || p.left == left {
			return
		}
	}
}

// oldGains deletes gains of days before this one, except those that their guild needs yet, of a page of guilds. A guild is looked at again once its first day that is
// left is too old, so calls with nothing to do read nothing but the index of such guilds.
func (p *purge) oldGains(ctx context.Context, before period.Day) (found int) {
	type old struct {
		id          string
		incarnation int64
		keep        period.Day
	}
	rows, err := p.Reader.QueryContext(ctx, `
		SELECT id, incarnation, keep_day FROM guilds
		WHERE gains_from < $1 AND (keep_day = 0 OR keep_day > gains_from) ORDER BY gains_from LIMIT $2`,
		int64(before), purgePage)
	guilds, err := Collect(rows, err, columns(func(o *old) []any { return []any{&o.id, &o.incarnation, &o.keep} }))
	p.err = err
	for _, g := range guilds {
		until := before
		if g.keep > 0 {
			until = min(until, g.keep)
		}
		if !p.delete(ctx, `DELETE FROM gains WHERE (incarnation, user_id, day) IN (
			SELECT incarnation, user_id, day FROM gains WHERE incarnation + 0 = $2 AND day + 0 < $3 LIMIT $1 FOR UPDATE SKIP LOCKED)`, g.incarnation, int64(until)) {
			break
		}
		p.exec(ctx, `
			UPDATE guilds SET gains_from = (SELECT day + 0 FROM gains WHERE gains.incarnation + 0 = guilds.incarnation ORDER BY day + 0 LIMIT 1)
			WHERE id = $1 AND incarnation = $2`, g.id, g.incarnation)
	}
	return len(guilds)
}

// oldPeriods deletes the lower ranks of periods that ended up to a time, and whole periods without a visible board, in a page of periods.
// Seasons stay, so that none closes twice. Each period is looked at once.
func (p *purge) oldPeriods(ctx context.Context, until int64) (found int) {
	type old struct {
		number int64
		bare   bool
	}
	rows, err := p.Reader.QueryContext(ctx, `
		SELECT number, kind <> $1 AND NOT (board AND members > 0) FROM periods WHERE NOT trimmed AND ends_ms <= $2 ORDER BY ends_ms LIMIT $3`,
		string(period.Seasonal), until, purgePage)
	periods, err := Collect(rows, err, columns(func(o *old) []any { return []any{&o.number, &o.bare} }))
	p.err = err
	for _, o := range periods {
		if o.bare {
			p.exec(ctx, `DELETE FROM periods WHERE number = $1`, o.number)
			continue
		}
		if p.delete(ctx, `DELETE FROM standings WHERE (period, rank) IN (
			SELECT period, rank FROM standings WHERE period = $2 AND rank > $3 LIMIT $1 FOR UPDATE SKIP LOCKED)`, o.number, snapshot.KeptRanks) {
			p.exec(ctx, `UPDATE periods SET trimmed = true
				WHERE number = $1 AND NOT EXISTS (SELECT 1 FROM standings WHERE period = number AND rank > $2)`, o.number, snapshot.KeptRanks)
		}
	}
	return len(periods)
}
