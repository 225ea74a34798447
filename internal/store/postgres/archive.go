// Package postgres is the archive on Postgres 15 or newer: the tables, the connections and the search of names of what package sqlarchive reads and
// writes. Package sqlite is the same for embedded mode.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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
	Name:      "postgres",
	AllowSlow: fmt.Sprintf(`SET LOCAL statement_timeout = %d`, sqlarchive.SlowTime.Milliseconds()),
	Redact:    redact,
	Bound:     bounded,
	BoundSlow: func(ctx context.Context, operation string) (context.Context, context.CancelFunc) {
		return context.WithTimeout(named(ctx, operation), sqlarchive.SlowTime)
	},
}

// redact keeps only the code of an error about the data, an invalid value or a broken constraint (the classes 22 and 23 of SQLSTATE): the server's message
// may repeat the data.
func redact(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) || !strings.HasPrefix(e.Code, "22") && !strings.HasPrefix(e.Code, "23") {
		return err
	}
	return fmt.Errorf("the server refuses the data: SQLSTATE %s", e.Code)
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

func wrap(op string, err error) error { return sqlarchive.Wrap("postgres", op, err) }
