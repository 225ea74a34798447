package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// WriteBatches implements snapshot.Archive.
func (a *Archive) WriteBatches(ctx context.Context, l lease.Lease, batches []snapshot.Batch) (errs []error, err error) {
	errs = make([]error, len(batches))
	err = a.inTx(ctx, "write members", func(tx *sql.Tx) error {
		if err := a.Holds(ctx, tx, l); err != nil {
			return err
		}
		for i, b := range batches {
			if errs[i] = b.Check(); errs[i] != nil {
				continue
			}
			state, err := stateOf(ctx, tx, b.Guild)
			if errors.Is(err, snapshot.ErrStale) || err == nil && (state.Epoch != b.Epoch || state.Archived > b.Known) {
				errs[i] = snapshot.ErrStale
				continue
			}
			if err == nil && state.Archived < b.Archived {
				errs[i] = snapshot.ErrArchiveBehind
				continue
			}
			if err == nil {
				err = writeBatch(ctx, tx, b)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return errs, err
}

func writeBatch(ctx context.Context, tx *sql.Tx, b snapshot.Batch) error {
	if err := upsert(ctx, tx, b, sqlarchive.ReplaceOlder); err != nil {
		return err
	}
	if err := replaceGains(ctx, tx, b); err != nil {
		return err
	}
	if err := writeRecords(ctx, tx, b); err != nil {
		return err
	}
	if err := keepRecords(ctx, tx, b); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE guilds SET archived = max(archived, ?2), verified = 0 WHERE id = ?1`, string(b.Guild.ID), b.Rev)
	return err
}

// upsert inserts the rows, and where there is one already does what conflict says, with more as its parameters.
func upsert(ctx context.Context, tx *sql.Tx, b snapshot.Batch, conflict string, more ...any) (err error) {
	statement, err := tx.PrepareContext(ctx, `
		INSERT INTO members AS m (incarnation, epoch, rev, written_ms, user_id, xp, message_count, updated_ms, cooldown_ms,
			avatar, discriminator, username, global_name, accent_colour, deleted, present)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (incarnation, user_id) DO UPDATE SET`+conflict)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, statement.Close()) }()
	now := nowMS()
	for _, r := range b.Rows {
		if r.Deleted {
			r = snapshot.Row{Deleted: true, Member: leaderboard.Member{UserID: r.UserID}}
		}
		u := r.User
		_, err := statement.ExecContext(ctx, append([]any{
			int64(b.Guild.Incarnation), b.Epoch, cmp.Or(b.AsOf, b.Rev), now,
			string(r.UserID), int64(r.XP), r.MessageCount, sqlarchive.Millis(r.LastUpdated), sqlarchive.Millis(r.CooldownUntil),
			u.Avatar, u.Discriminator, u.Username, u.GlobalName, u.AccentColour, r.Deleted, !r.Absent,
		}, more...)...)
		if err != nil {
			return refusal(err)
		}
	}
	return nil
}

// refusal makes snapshot.ErrBadRow of an error that is about the data, and leaves any other alone. The message may repeat the data, so only its code is kept.
func refusal(err error) error {
	var e *driver.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("%w: SQLite's code %d", snapshot.ErrBadRow, e.Code())
	}
	return err
}
