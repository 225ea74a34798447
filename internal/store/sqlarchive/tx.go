package sqlarchive

import (
	"context"
	"database/sql"
	"errors"

	"levelboard/internal/platform/changes"
)

// tx is a transaction. Its first error ends it: later statements do nothing and answer with nothing, and it is rolled back. So its users check err only
// before they decide something by an answer.
type tx struct {
	*sql.Tx
	Dialect
	ctx     context.Context
	err     error
	version int64 // in a change: the last one given out
}

// inTx runs f in a transaction that writes.
func (c *Catalog) inTx(ctx context.Context, operation string, f func(*tx)) error {
	ctx, cancel := c.Bound(ctx, operation)
	defer cancel()
	return Wrap(c.Name, operation, c.transact(ctx, f))
}

// inSlow runs f in a transaction that is allowed SlowTime.
func (c *Catalog) inSlow(ctx context.Context, operation string, f func(*tx)) error {
	ctx, cancel := c.BoundSlow(ctx, operation)
	defer cancel()
	return Wrap(c.Name, operation, c.transact(ctx, func(t *tx) {
		if c.AllowSlow != "" {
			t.exec(c.AllowSlow)
		}
		f(t)
	}))
}

// inChange runs f in a transaction that changes guilds or keys.
func (c *Catalog) inChange(ctx context.Context, operation string, f func(*tx)) error {
	return c.inTx(ctx, operation, func(t *tx) { t.counted(func() { f(t) }) })
}

func (c *Catalog) transact(ctx context.Context, f func(*tx)) error {
	begun, err := c.Writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	t := &tx{Tx: begun, Dialect: c.Dialect, ctx: ctx}
	if f(t); t.err == nil {
		return begun.Commit()
	}
	if err := begun.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return errors.Join(t.err, err)
	}
	return t.err
}

// fail ends the transaction with err, unless err is nil or it has ended already.
func (t *tx) fail(err error) {
	if t.err == nil {
		t.err = t.Redact(err)
	}
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(statement string, args ...any) (changed int64) {
	if t.err != nil {
		return 0
	}
	done, err := t.ExecContext(t.ctx, t.sql(statement), args...)
	if err == nil {
		changed, err = done.RowsAffected()
	}
	t.fail(err)
	return changed
}

// readRow reads a row. found is false when there is none.
func readRow[T any](t *tx, scan func(Row) (T, error), query string, args ...any) (value T, found bool) {
	if t.err != nil {
		return value, false
	}
	value, err := scan(t.QueryRowContext(t.ctx, t.sql(query), args...))
	if errors.Is(err, sql.ErrNoRows) {
		return value, false
	}
	t.fail(err)
	return value, err == nil
}

// readValue reads a row of one column. found is false when there is none.
func readValue[T any](t *tx, query string, args ...any) (found T, ok bool) {
	return readRow(t, scanValue[T], query, args...)
}

// readAll reads all rows.
func readAll[T any](t *tx, scan func(Row) (T, error), query string, args ...any) []T {
	if t.err != nil {
		return nil
	}
	result, err := t.QueryContext(t.ctx, t.sql(query), args...)
	found, err := Collect(result, err, scan)
	t.fail(err)
	return found
}

// require fails with missing unless the query answers with true.
func (t *tx) require(missing error, query string, args ...any) {
	if yes, _ := readValue[bool](t, query, args...); !yes {
		t.fail(missing)
	}
}

// counted runs f while it holds the counter's row, and stores the counter with it: changes run one after the other, and their versions are in the
// order of their commits. Versions that were not committed were never there.
func (t *tx) counted(f func()) {
	before, _ := readValue[int64](t, `SELECT version FROM change_counter FOR UPDATE`)
	if t.version = before; t.err == nil {
		f()
	}
	if t.version != before {
		t.exec(`UPDATE change_counter SET version = $1`, t.version)
	}
}

// log appends a change of each subject, in this order, and returns the version of the last.
func (t *tx) log(kind changes.Kind, subjects ...string) (version int64) {
	t.exec(`
		INSERT INTO change_log (version, kind, subject, logged_ms)
		SELECT CAST($1 AS bigint) + 1 + key, $2, value ->> 0, now_ms() FROM jsonb_each($3)`, t.version, string(kind), jsonList(subjects))
	t.version += int64(len(subjects))
	return t.version
}

// Changes implements changes.Log.
func (c *Catalog) Changes(ctx context.Context, after int64, limit int) ([]changes.Change, error) {
	return list(ctx, c, "read_changes", columns(func(c *changes.Change) []any { return []any{&c.Version, &c.Kind, &c.Subject} }),
		`SELECT version, kind, subject FROM change_log WHERE version > $1 ORDER BY version LIMIT $2`, after, limit)
}

// LatestChange implements changes.Log.
func (c *Catalog) LatestChange(ctx context.Context) (version int64, err error) {
	return one(ctx, c, "read_latest_change", scanValue[int64], `SELECT version FROM change_counter`)
}
