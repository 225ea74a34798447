package sqlarchive

import (
	"context"
	"time"

	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/snapshot"
)

// NothingLeft ends the condition under which the row d of deleted_guilds goes.
const NothingLeft = `
	AND NOT EXISTS (SELECT 1 FROM imports i WHERE i.incarnation = d.incarnation)
	AND (EXISTS (SELECT 1 FROM guilds WHERE audit_log = d.incarnation) OR NOT EXISTS (SELECT 1 FROM audit WHERE log = d.incarnation))
	AND NOT EXISTS (SELECT 1 FROM gains g WHERE g.incarnation = d.incarnation)
	AND NOT EXISTS (SELECT 1 FROM periods p WHERE p.incarnation = d.incarnation)`

// purgePage is how many guilds or periods are looked at together.
const purgePage = 200

// PurgePeriods deletes at most limit gains, standings, periods, notes of imports and audit records of a deleted guild. What was restored or reset
// has another incarnation and the same audit log.
func (c *Catalog) PurgePeriods(ctx context.Context, limit int, incarnation int64) (purged int, err error) {
	p := purge{Catalog: c, left: limit}
	p.delete(ctx, "imports", "incarnation, files", `incarnation = $2`, incarnation)
	p.delete(ctx, "audit", "log, at_ms, number", `log = $2 AND NOT EXISTS (SELECT 1 FROM guilds WHERE audit_log = $2)`, incarnation)
	p.delete(ctx, "gains", "incarnation, user_id, day", `incarnation = $2`, incarnation)
	p.delete(ctx, "standings", "period, rank", `period IN (SELECT number FROM periods WHERE incarnation = $2)`, incarnation)
	p.delete(ctx, "periods", "number", `incarnation = $2 AND NOT EXISTS (SELECT 1 FROM standings WHERE period = number)`, incarnation)
	return limit - p.left, p.err
}

// PurgeHistory deletes at most limit rows that snapshot.Keep.History and Keep.Audit do not keep. What it notes of a guild or a period counts as a row.
func (c *Catalog) PurgeHistory(ctx context.Context, limit int, keep snapshot.Keep) (purged int, err error) {
	p := purge{Catalog: c, left: limit}
	now, days := time.Now(), keep.History
	if keep.Audit > 0 {
		p.delete(ctx, "audit", "log, at_ms, number", `at_ms + 0 < $2`, now.AddDate(0, 0, -keep.Audit).UnixMilli())
	}
	if days <= 0 {
		return limit - p.left, p.err
	}
	p.expireCheckpoints(ctx, now.Add(-checkpoints.AutomaticTime).UnixMilli())
	p.pages(func() int { return p.oldGains(ctx, period.DayAt(now, time.UTC)-1-period.Day(days)) })
	p.pages(func() int { return p.oldPeriods(ctx, now.AddDate(0, 0, -days).UnixMilli()) })
	return limit - p.left, p.err
}

// purge is what a call has left to delete. After its first error it does nothing more.
type purge struct {
	*Catalog
	left int
	err  error
}

// delete deletes rows until none is left or the limit is reached, and reports the former.
func (p *purge) delete(ctx context.Context, table, key, condition string, args ...any) (done bool) {
	if p.err != nil || p.left <= 0 {
		return false
	}
	p.exec(ctx, p.Delete(table, key, condition), append([]any{p.left}, args...)...)
	return p.err == nil && p.left > 0
}

func (p *purge) exec(ctx context.Context, statement string, args ...any) {
	if p.err != nil {
		return
	}
	done, err := p.Writer.ExecContext(ctx, statement, args...)
	if err == nil {
		var n int64
		n, err = done.RowsAffected()
		p.left -= int(n)
	}
	p.err = err
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
	guilds, err := Collect(rows, err, func(row Row) (o old, err error) {
		err = row.Scan(&o.id, &o.incarnation, &o.keep)
		return o, err
	})
	p.err = err
	for _, g := range guilds {
		until := before
		if g.keep > 0 {
			until = min(until, g.keep)
		}
		if !p.delete(ctx, "gains", "incarnation, user_id, day", `incarnation + 0 = $2 AND day + 0 < $3`, g.incarnation, int64(until)) {
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
	periods, err := Collect(rows, err, func(row Row) (o old, err error) {
		err = row.Scan(&o.number, &o.bare)
		return o, err
	})
	p.err = err
	for _, o := range periods {
		if o.bare {
			p.delete(ctx, "periods", "number", `number = $2`, o.number)
			continue
		}
		if p.delete(ctx, "standings", "period, rank", `period = $2 AND rank > $3`, o.number, snapshot.KeptRanks) {
			p.exec(ctx, `UPDATE periods SET trimmed = true
				WHERE number = $1 AND NOT EXISTS (SELECT 1 FROM standings WHERE period = number AND rank > $2)`, o.number, snapshot.KeptRanks)
		}
	}
	return len(periods)
}
