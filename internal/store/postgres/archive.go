// Package postgres is the archive on Postgres 15 or newer: what package sqlarchive does not have, such as the last snapshot of every
// member, their names, and the records of requests. It does not decide what is written when. Package sqlite is the same for
// embedded mode.
//
// Locks are taken in one order, so that nothing deadlocks: the change counter, a guild's row, the lease, members, gains.
// ClosePeriod alone locks a guild's row after the lease; it says why that is safe.
package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"levelboard/internal/store/sqlarchive"
)

// operationTime bounds every operation with its wait for a connection, since the writer's contexts have no deadline. It is longer than the
// server's own limit on a statement. Only a test changes it.
var operationTime = 40 * time.Second

// Archive is the archive; its methods promise what the interfaces say that they implement. It is safe for concurrent use. An error that
// no interface names means that the server could not be asked, or that its answer was lost and a change may have happened.
type Archive struct {
	sqlarchive.Catalog
	pool *pgxpool.Pool
}

var dialect = sqlarchive.Dialect{
	Name:    "postgres",
	Now:     nowMS,
	Lock:    ` FOR UPDATE`,
	Manages: `(settings ->> 'ownerId' = $1::text OR settings -> 'adminIds' @> to_jsonb($1::text))`,
	Share:   ` FOR KEY SHARE`,
	In: func(parameter string) string {
		return `= ANY (ARRAY(SELECT jsonb_array_elements_text(` + parameter + `::jsonb)))`
	},
	List: func(parameter string) string {
		return `jsonb_array_elements_text(` + parameter + `::jsonb) WITH ORDINALITY AS l (value, n)`
	},
	Hex: func(column string) string { return `encode(` + column + `, 'hex')` },
	Delete: func(table, _, condition string) string {
		return `DELETE FROM ` + table + ` WHERE ctid = ANY (ARRAY(SELECT ctid FROM ` + table + ` WHERE ` + condition + ` LIMIT $1 FOR UPDATE SKIP LOCKED))`
	},
	Own: `, words`, Restored: indexRestored,
	AllowSlow: fmt.Sprintf(`SET LOCAL statement_timeout = %d`, sqlarchive.SlowTime.Milliseconds()),
	Bound:     bounded,
	BoundSlow: func(ctx context.Context, operation string) (context.Context, context.CancelFunc) {
		return context.WithTimeout(named(ctx, operation), sqlarchive.SlowTime)
	},
}

// Ping reports whether the server answers.
func (a *Archive) Ping(ctx context.Context) error {
	ctx, cancel := bounded(ctx, "ping")
	defer cancel()
	return wrap("ping", a.pool.Ping(ctx))
}

// Connections says how many connections are in use, and how many are open beside them.
func (a *Archive) Connections() (inUse, idle int) {
	stat := a.pool.Stat()
	return int(stat.AcquiredConns()), int(stat.IdleConns())
}

// Close closes the connections; it waits for those that are in use.
func (a *Archive) Close() {
	_ = a.Reader.Close() // it holds no connection of its own
	a.pool.Close()
}

// bounded is the context of an operation, which its queries are counted under.
func bounded(ctx context.Context, operation string) (context.Context, context.CancelFunc) {
	return context.WithTimeout(named(ctx, operation), operationTime)
}

// nowMS is the archive's clock in SQL. Unlike now() it does not stand still while a transaction waits for a lock.
const nowMS = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`

func wrap(op string, err error) error { return sqlarchive.Wrap("postgres", op, err) }

// inTx runs f in a transaction, which is rolled back when f fails.
func (a *Archive) inTx(ctx context.Context, op string, f func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := bounded(ctx, op)
	defer cancel()
	return wrap(op, pgx.BeginFunc(ctx, a.pool, func(tx pgx.Tx) error { return f(ctx, tx) }))
}
