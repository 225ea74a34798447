package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"levelboard/internal/platform/changes"
)

// change is a transaction that changes guilds or keys.
type change struct {
	*sql.Tx
	version int64 // the last one given out
}

// inChange runs f in a transaction and stores the counter with it. Versions that f took and did not commit were never there.
func (a *Archive) inChange(ctx context.Context, op string, f func(c *change) error) error {
	return a.inTx(ctx, op, func(tx *sql.Tx) error {
		c := &change{Tx: tx}
		if err := tx.QueryRowContext(ctx, `SELECT version FROM change_counter`).Scan(&c.version); err != nil {
			return fmt.Errorf("read the change counter: %w", err)
		}
		before := c.version
		if err := f(c); err != nil {
			return err
		}
		if c.version == before {
			return nil
		}
		_, err := tx.ExecContext(ctx, `UPDATE change_counter SET version = ?`, c.version)
		return err
	})
}

// log appends a change of each subject, in this order, and returns the version of the last.
func (c *change) log(ctx context.Context, kind changes.Kind, subjects ...string) (version int64, err error) {
	for _, subject := range subjects {
		_, err := c.ExecContext(ctx, `INSERT INTO change_log (version, kind, subject, logged_ms) VALUES (?, ?, ?, ?)`,
			c.version+1, string(kind), subject, nowMS())
		if err != nil {
			return 0, fmt.Errorf("append to the change log: %w", err)
		}
		c.version++
	}
	return c.version, nil
}

// Changes implements changes.Log.
func (a *Archive) Changes(ctx context.Context, after int64, limit int) ([]changes.Change, error) {
	rows, err := a.reader.QueryContext(ctx,
		`SELECT version, kind, subject FROM change_log WHERE version > ? ORDER BY version LIMIT ?`, after, limit)
	if err != nil {
		return nil, wrap("read the change log", err)
	}
	found, err := collect(rows, func(row scanner) (c changes.Change, err error) {
		err = row.Scan(&c.Version, &c.Kind, &c.Subject)
		return c, err
	})
	return found, wrap("read the change log", err)
}

// LatestChange implements changes.Log.
func (a *Archive) LatestChange(ctx context.Context) (version int64, err error) {
	err = a.reader.QueryRowContext(ctx, `SELECT version FROM change_counter`).Scan(&version)
	return version, wrap("read the change counter", err)
}
