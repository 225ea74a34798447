package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/platform/changes"
)

// change is a transaction that changes guilds or keys. It holds the counter's row from its beginning, so such
// transactions run one after the other, and their versions are in the order of their commits.
type change struct {
	pgx.Tx
	version int64 // the last one given out
}

// inChange runs f in a transaction and stores the counter with it. Versions that f took and did not commit were never there.
func (a *Archive) inChange(ctx context.Context, op string, f func(ctx context.Context, c *change) error) error {
	return a.inTx(ctx, op, func(ctx context.Context, tx pgx.Tx) error {
		c := &change{Tx: tx}
		if err := tx.QueryRow(ctx, `SELECT version FROM change_counter FOR UPDATE`).Scan(&c.version); err != nil {
			return fmt.Errorf("lock the change counter: %w", err)
		}
		before := c.version
		if err := f(ctx, c); err != nil {
			return err
		}
		if c.version == before {
			return nil
		}
		_, err := tx.Exec(ctx, `UPDATE change_counter SET version = $1`, c.version)
		return err
	})
}

// log appends a change of each subject, in this order, and returns the version of the last.
func (c *change) log(ctx context.Context, kind changes.Kind, subjects ...string) (version int64, err error) {
	_, err = c.Exec(ctx, `
		INSERT INTO change_log (version, kind, subject, logged_ms)
		SELECT $1 + n, $2, subject, `+nowMS+` FROM unnest($3::text[]) WITH ORDINALITY AS s (subject, n)`,
		c.version, string(kind), subjects)
	if err != nil {
		return 0, fmt.Errorf("append to the change log: %w", err)
	}
	c.version += int64(len(subjects))
	return c.version, nil
}

// Changes implements changes.Log.
func (a *Archive) Changes(ctx context.Context, after int64, limit int) ([]changes.Change, error) {
	ctx, cancel := bounded(ctx, "read_changes")
	defer cancel()
	rows, err := a.pool.Query(ctx,
		`SELECT version, kind, subject FROM change_log WHERE version > $1 ORDER BY version LIMIT $2`, after, limit)
	if err != nil {
		return nil, wrap("read the change log", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[changes.Change])
	return found, wrap("read the change log", err)
}

// LatestChange implements changes.Log.
func (a *Archive) LatestChange(ctx context.Context) (version int64, err error) {
	ctx, cancel := bounded(ctx, "read_latest_change")
	defer cancel()
	err = a.pool.QueryRow(ctx, `SELECT version FROM change_counter`).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		err = errors.New("the change counter's row is missing")
	}
	return version, wrap("read the change counter", err)
}
