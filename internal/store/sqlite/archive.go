// Package sqlite is the archive of embedded mode, in one file: the tables, the connections and the search of names of what package sqlarchive reads
// and writes.
//
// One connection writes, so transactions run one after the other and need no locks on rows. Other connections read beside it (WAL). A committed
// transaction survives the loss of power.
package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	sqlite3driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/leaderboard"
)

// Archive is the archive. Its methods promise what the interfaces say that they implement. It is safe for concurrent use. Errors
// carry the operation; those that an interface does not name mean that the file could not be read or written.
type Archive struct {
	sqlarchive.Catalog // its Writer is one connection, whose transactions take the write lock when they begin
	path               string
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
	return wrap("ping", a.Reader.QueryRowContext(ctx, `SELECT 1 FROM sqlite_schema LIMIT 1`).Scan(&one))
}

// Connections says how many connections to the file are in use, and how many are open beside them.
func (a *Archive) Connections() (inUse, idle int) {
	writer, reader := a.Writer.Stats(), a.Reader.Stats()
	return writer.InUse + reader.InUse, writer.Idle + reader.Idle
}

// Close closes the file; it waits for what is under way.
func (a *Archive) Close() {
	// The writer goes last: closing the last connection moves the write-ahead log into the file, which readers cannot.
	_ = a.Reader.Close()
	_ = a.Writer.Close()
}

func wrap(op string, err error) error { return sqlarchive.Wrap("sqlite", op, err) }

// errLogInUse says that a reader needed the write-ahead log all the time that SQLite waited.
var errLogInUse = errors.New("the write-ahead log is in use, and still holds what was deleted; it is cut off once nobody reads")

// EndErasure implements erasure.Archive. The log holds what was deleted until it is cut off: while that fails, the erasure stays open.
func (a *Archive) EndErasure(ctx context.Context, o erasure.Open) error {
	err := a.cutLog(ctx)
	if err == nil {
		err = a.Catalog.EndErasure(ctx, o)
	}
	if err == nil {
		err = a.cutLog(ctx) // of the user's id, too
	}
	return err
}

// cutLog moves the write-ahead log into the file and leaves none of it.
func (a *Archive) cutLog(ctx context.Context) error {
	var busy, pages, moved int
	err := a.Writer.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
	if err == nil && busy != 0 {
		err = errLogInUse
	}
	return wrap("cut the log", err)
}

// FindNames implements leaderboard.Names. It looks at the members of the guild until enough match. SQLite rewrites the entries of an index with
// every update, so an index of words would more than double the time of every snapshot.
func (a *Archive) FindNames(ctx context.Context, g leaderboard.GuildRef, q leaderboard.Query, limits leaderboard.NameLimits) (found leaderboard.Candidates, err error) {
	beginnings, err := json.Marshal(q.Beginnings())
	if err != nil {
		return found, wrap("find_names", err)
	}
	rows, err := a.Reader.QueryContext(ctx, `
		SELECT user_id FROM members
		WHERE incarnation = $1 AND NOT deleted AND user_id NOT IN (SELECT user_id FROM hidden_members WHERE incarnation = $1)
			AND NOT EXISTS (SELECT 1 FROM json_each($2) WHERE instr(' ' || words, value) = 0)
		ORDER BY present DESC, xp DESC, user_id DESC LIMIT $3`, int64(g.Incarnation), string(beginnings), limits.Users)
	found.Users, err = sqlarchive.Collect(rows, err, func(row sqlarchive.Row) (user id.User, err error) {
		err = row.Scan(&user)
		return user, err
	})
	return found, wrap("find_names", err)
}
