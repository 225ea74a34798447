// Package sqlarchive is the archive, in statements that both Postgres and SQLite understand. Each stands in one piece, and can be pasted into psql. The
// package does not connect, migrate or search names: each archive's own package does.
//
// Locks are taken in one order, so that nothing deadlocks: the change counter, a guild's row, the lease, members, gains.
// ClosePeriod alone locks a guild's row after the lease; it says why that is safe.
package sqlarchive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Catalog stores guilds and keys. Its methods keep the promises of the interfaces that they implement. It is safe for concurrent use.
type Catalog struct {
	Dialect
	Reader *sql.DB
	Writer *sql.DB // the same as Reader where readers may write
}

// Dialect is where the databases differ. Both understand the same statements: each has, or is given, the functions now_ms (the archive's clock in
// milliseconds, which does not stand still while a transaction waits), jsonb_each, hex and unhex of the other.
type Dialect struct {
	Name string // begins each error
	// SQLite says that one transaction writes at a time, so rows need no locks.
	SQLite bool
	// AllowSlow begins a transaction that is allowed SlowTime; empty when nothing has to be said.
	AllowSlow string
	// Redact takes user data out of an error about the data, and leaves any other error alone.
	Redact func(err error) error
	// Bound is the context of an operation, BoundSlow that of one which is allowed SlowTime.
	Bound, BoundSlow func(ctx context.Context, operation string) (context.Context, context.CancelFunc)
}

// sql is a statement that ends in a lock on rows, or has one in a subquery, as this database understands it.
func (d Dialect) sql(statement string) string {
	if d.SQLite {
		return locks.ReplaceAllString(statement, "")
	}
	return statement
}

var locks = regexp.MustCompile(` FOR (NO KEY |KEY )?(UPDATE|SHARE)( SKIP LOCKED)?`)

// Row is a row of a result.
type Row interface{ Scan(dest ...any) error }

// Wrap names the archive and the operation in err; nil stays nil.
func Wrap(archive, operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", archive, operation, err)
}

// orMissing is scan with another error, or none, where there is no row.
func orMissing[T any](missing error, scan func(Row) (T, error)) func(Row) (T, error) {
	return func(row Row) (T, error) {
		found, err := scan(row)
		if errors.Is(err, sql.ErrNoRows) {
			err = missing
		}
		return found, err
	}
}

// one reads a row.
func one[T any](ctx context.Context, c *Catalog, operation string, scan func(Row) (T, error), query string, args ...any) (T, error) {
	ctx, cancel := c.Bound(ctx, operation)
	defer cancel()
	found, err := scan(c.Reader.QueryRowContext(ctx, query, args...))
	return found, Wrap(c.Name, operation, err)
}

// list reads all rows.
func list[T any](ctx context.Context, c *Catalog, operation string, scan func(Row) (T, error), query string, args ...any) ([]T, error) {
	ctx, cancel := c.Bound(ctx, operation)
	defer cancel()
	rows, err := c.Reader.QueryContext(ctx, query, args...)
	found, err := Collect(rows, err, scan)
	return found, Wrap(c.Name, operation, err)
}

// Collect scans and closes the rows of a query that returned err.
func Collect[T any](rows *sql.Rows, err error, scan func(Row) (T, error)) (found []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// scanValue reads a row of one column.
func scanValue[T any](row Row) (value T, err error) {
	err = row.Scan(&value)
	return value, err
}

// columns reads rows whose columns go where fields says.
func columns[T any](fields func(*T) []any) func(Row) (T, error) {
	return func(row Row) (found T, err error) {
		err = row.Scan(fields(&found)...)
		return found, err
	}
}

// run runs one statement that writes.
func (c *Catalog) run(ctx context.Context, operation, statement string, args ...any) error {
	ctx, cancel := c.Bound(ctx, operation)
	defer cancel()
	_, err := c.Writer.ExecContext(ctx, statement, args...)
	return Wrap(c.Name, operation, err)
}

// jsonList is a list as an argument for jsonb_each, a row with one value for each text.
func jsonList[T ~string](list []T) string {
	rows := make([][]any, len(list))
	for i, text := range list {
		rows[i] = []any{text}
	}
	return jsonRows(rows)
}

// jsonRows are rows of texts, numbers, booleans and nil as an argument for jsonb_each: its column value has a row, whose values are value ->> 0 and so on.
func jsonRows(rows [][]any) string {
	text, err := json.Marshal(rows, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // such values can always be encoded
	}
	return string(text)
}

// spaced is ids as the tables hold them, with spaces in between.
func spaced[T ~string](ids []T) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = string(id)
	}
	return strings.Join(texts, " ")
}

// idsIn reads the output of spaced. It is never nil.
func idsIn[T ~string](text string) []T {
	ids := []T{}
	for id := range strings.FieldsSeq(text) {
		ids = append(ids, T(id))
	}
	return ids
}

// millis reads a column of milliseconds since 1970 into a time in UTC; null is the zero time.
type millis struct{ at *time.Time }

// Scan implements sql.Scanner.
func (m millis) Scan(value any) error {
	switch ms := value.(type) {
	case nil:
		*m.at = time.Time{}
	case int64:
		*m.at = time.UnixMilli(ms).UTC()
	default:
		return fmt.Errorf("a time is a %T", value)
	}
	return nil
}

// optional reads such a column into a pointer; null is nil.
type optional struct{ at **time.Time }

// Scan implements sql.Scanner.
func (o optional) Scan(value any) error {
	var at time.Time
	err := millis{&at}.Scan(value)
	if *o.at = nil; value != nil {
		*o.at = &at
	}
	return err
}

// inMillis is t as such a column; null for the zero time.
func inMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}

// optionalMillis is t as such a column; null for nil.
func optionalMillis(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	return new(t.UnixMilli())
}
