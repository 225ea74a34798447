package sqlite

import (
	"context"
	"errors"

	"levelboard/internal/usecase/erasure"
)

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
	err := a.writer.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
	if err == nil && busy != 0 {
		err = errLogInUse
	}
	return wrap("cut the log", err)
}
