// Package sqlite is the archive of embedded mode, in one file: what package postgres is on Postgres, promise for promise.
// Like it, the package does not decide what is written when.
//
// One connection writes, so transactions that change something run one after the other, and what package postgres does
// with locks on rows needs none here. Other connections read beside it (WAL). A committed transaction survives the loss
// of power.
package sqlite

import (
	"context"
	"database/sql"
	"time"

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
	Name:    "sqlite",
	Now:     `CAST(round(unixepoch('subsec') * 1000) AS INTEGER)`,
	In:      func(parameter string) string { return `IN (SELECT value FROM json_each(` + parameter + `))` },
	Manages: `(settings ->> 'ownerId' = $1 OR EXISTS (SELECT 1 FROM json_each(settings, '$.adminIds') WHERE value = $1))`,
	List: func(parameter string) string {
		return `(SELECT value, key + 1 AS n FROM json_each(` + parameter + `)) AS l`
	},
	Hex: func(column string) string { return `hex(` + column + `)` },
	Delete: func(table, key, condition string) string {
		return `DELETE FROM ` + table + ` WHERE (` + key + `) IN (SELECT ` + key + ` FROM ` + table + ` WHERE ` + condition + ` LIMIT $1)`
	},
	Bound: func(ctx context.Context, _ string) (context.Context, context.CancelFunc) {
		return ctx, func() {}
	},
	BoundSlow: func(ctx context.Context, _ string) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, sqlarchive.SlowTime)
	},
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

// inTx runs f in a transaction of the writer, which is rolled back when f fails.
func (a *Archive) inTx(ctx context.Context, op string, f func(tx *sql.Tx) error) error {
	return wrap(op, sqlarchive.InTx(ctx, a.writer, f))
}

// nowMS is the archive's clock.
func nowMS() int64 { return time.Now().UnixMilli() }
