package sqlarchive

import (
	"context"
	"database/sql"
	"fmt"

	"levelboard/internal/platform/changes"
)

// change is a transaction that changes guilds or keys. It holds the counter's row from its beginning, so such
// transactions run one after the other, and their versions are in the order of their commits.
type change struct {
	*sql.Tx
	Dialect
	version int64 // the last one given out
}

// inChange runs f in a transaction and stores the counter with it. Versions that f took and did not commit were never there.
func (c *Catalog) inChange(ctx context.Context, operation string, f func(ctx context.Context, c *change) error) error {
	ctx, cancel := c.Bound(ctx, operation)
	defer cancel()
	return Wrap(c.Name, operation, InTx(ctx, c.Writer, func(tx *sql.Tx) error {
		ch := &change{Tx: tx, Dialect: c.Dialect}
		return ch.counted(ctx, func() error { return f(ctx, ch) })
	}))
}

// counted runs f while it holds the counter's row, and stores the counter.
func (c *change) counted(ctx context.Context, f func() error) error {
	if err := c.QueryRowContext(ctx, c.sql(`SELECT version FROM change_counter FOR UPDATE`)).Scan(&c.version); err != nil {
		return fmt.Errorf("lock the change counter: %w", err)
	}
	before := c.version
	if err := f(); err != nil || c.version == before {
		return err
	}
	_, err := c.ExecContext(ctx, `UPDATE change_counter SET version = $1`, c.version)
	return err
}

// log appends a change of each subject, in this order, and returns the version of the last.
func (c *change) log(ctx context.Context, kind changes.Kind, subjects ...string) (version int64, err error) {
	_, err = c.ExecContext(ctx, `
		INSERT INTO change_log (version, kind, subject, logged_ms)
		SELECT CAST($1 AS bigint) + 1 + key, $2, value ->> 0, now_ms() FROM jsonb_each($3)`, c.version, string(kind), jsonList(subjects))
	if err != nil {
		return 0, fmt.Errorf("append to the change log: %w", err)
	}
	c.version += int64(len(subjects))
	return c.version, nil
}

// exec runs a statement and returns how many rows it changed.
func (c *change) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := c.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// exists returns missing when the query says no.
func (c *change) exists(ctx context.Context, query string, missing error, args ...any) error {
	exists, err := scanValue[bool](c.QueryRowContext(ctx, query, args...))
	if err == nil && !exists {
		err = missing
	}
	return err
}

// Changes implements changes.Log.
func (c *Catalog) Changes(ctx context.Context, after int64, limit int) ([]changes.Change, error) {
	return list(ctx, c, "read_changes", func(row Row) (found changes.Change, err error) {
		err = row.Scan(&found.Version, &found.Kind, &found.Subject)
		return found, err
	}, `SELECT version, kind, subject FROM change_log WHERE version > $1 ORDER BY version LIMIT $2`, after, limit)
}

// LatestChange implements changes.Log.
func (c *Catalog) LatestChange(ctx context.Context) (version int64, err error) {
	return one(ctx, c, "read_latest_change", scanValue[int64], `SELECT version FROM change_counter`)
}
