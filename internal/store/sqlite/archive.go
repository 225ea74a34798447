// Package sqlite is the archive of embedded mode, in one file: the tables, the connections and the search of names of what package sqlarchive reads
// and writes.
//
// One connection writes, so transactions that change something run one after the other, and what Postgres does
// with locks on rows needs none here. Other connections read beside it (WAL). A committed transaction survives the loss
// of power.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	sqlite3driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"levelboard/internal/store/sqlarchive"
)

// Archive is the archive. Its methods promise what the interfaces say that they implement. It is safe for concurrent use. Errors
// carry the operation; those that an interface does not name mean that the file could not be read or written.
type Archive struct {
	sqlarchive.Catalog
	path   string
	writer *sql.DB // one connection, whose transactions take the write lock when they begin
	reader *sql.DB
}

var dialect = sqlarchive.Dialect{
	Name:   "sqlite",
	SQLite: true,
	Redact: redact,
	Bound: func(ctx context.Context, _ string) (context.Context, context.CancelFunc) {
		return ctx, func() {}
	},
	BoundSlow: func(ctx context.Context, _ string) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, sqlarchive.SlowTime)
	},
}

func init() {
	sqlite3driver.MustRegisterScalarFunction("now_ms", 0, func(*sqlite3driver.FunctionContext, []driver.Value) (driver.Value, error) {
		return time.Now().UnixMilli(), nil
	})
}

// redact keeps only the code of an error about the data: the message may repeat the data.
func redact(err error) error {
	var e *sqlite3driver.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("SQLite refuses the data: code %d", e.Code())
	}
	return err
}

// Ping reports whether the file can be read.
func (a *Archive) Ping(ctx context.Context) error {
	var one int
	return wrap("ping", a.reader.QueryRowContext(ctx, `SELECT 1 FROM sqlite_schema LIMIT 1`).Scan(&one))
}

// Connections says how many connections to the file are in use, and how many are open beside them.
func (a *Archive) Connections() (inUse, idle int) {
	writer, reader := a.writer.Stats(), a.reader.Stats()
	return writer.InUse + reader.InUse, writer.Idle + reader.Idle
}

// Close closes the file; it waits for what is under way.
func (a *Archive) Close() {
	// The writer goes last: closing the last connection moves the write-ahead log into the file, which readers cannot.
	_ = a.reader.Close()
	_ = a.writer.Close()
}

func wrap(op string, err error) error { return sqlarchive.Wrap("sqlite", op, err) }
