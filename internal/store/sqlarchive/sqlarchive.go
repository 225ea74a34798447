// Package sqlarchive is what the archives on Postgres and on SQLite share: what fits statements that both databases
// understand, such as guilds, keys, periods, checkpoints, the audit log and the log of changes. It does not connect, take the lease or write batches: each archive's own package does.
package sqlarchive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Catalog holds guilds and keys. Its methods promise what the interfaces say that they implement. It is safe for concurrent use.
type Catalog struct {
	Dialect
	Reader *sql.DB
	Writer *sql.DB // the same as Reader where readers may write
}

// Dialect is where the databases differ.
type Dialect struct {
	Name string // begins each error
	Now  string // the archive's clock in milliseconds, which does not stand still while a transaction waits
	Lock string // ends a SELECT of rows that are about to change
	// Manages holds for a guild whose settings name the user $1 as its owner or administrator.
	Manages string
	// Share ends a SELECT of rows whose keys must stay as they are until the transaction ends.
	Share string
	// In compares a text with those in the JSON array that is this parameter, List makes rows (value, n) of it, n counting from 1.
	In, List func(parameter string) string
	Hex      func(column string) string // writes bytes as hexadecimal digits
	// Delete is a statement that deletes at most $1 rows, of this key, that the condition, on $2 and more, holds for.
	Delete func(table, key, condition string) string
	// Own are columns of members that only this archive has, each with a comma before it; empty when there are none. Restored is a statement that
	// ends a copy of members to the incarnation $1 which a guild gets; empty for none.
	Own, Restored string
	// AllowSlow begins a transaction that is allowed SlowTime; empty when nothing has to be said.
	AllowSlow string
	// Bound is the context of an operation, BoundSlow that of one which is allowed SlowTime.
	Bound, BoundSlow func(ctx context.Context, operation string) (context.Context, context.CancelFunc)
}

// Row is a row of a result.
type Row interface{ Scan(dest ...any) error }

// Wrap names the archive and the operation in err; nil stays nil.
func Wrap(archive, operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", archive, operation, err)
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

// InTx runs f in a transaction, which is rolled back when f fails.
func InTx(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		if rollback := tx.Rollback(); rollback != nil && !errors.Is(rollback, sql.ErrTxDone) {
			err = errors.Join(err, rollback)
		}
		return err
	}
	return tx.Commit()
}

// jsonList is a list as an argument for Dialect.In and Dialect.List.
func jsonList[T ~string](list []T) string {
	text, _ := json.Marshal(list) // texts always can
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

// idsIn reads what spaced wrote. It is never nil.
func idsIn[T ~string](text string) []T {
	ids := []T{}
	for id := range strings.FieldsSeq(text) {
		ids = append(ids, T(id))
	}
	return ids
}

// optionalMillis is t as the tables hold it.
func optionalMillis(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	return new(t.UnixMilli())
}

// optionalTime is the time that optionalMillis made ms of.
func optionalTime(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	return new(time.UnixMilli(*ms).UTC())
}
