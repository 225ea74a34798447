package snapshot

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"levelboard/internal/domain/id"
)

// badRowsKept bounds for how many members a log line is remembered, and with it how many lines there are: a damaged
// member may change every second.
const badRowsKept = 1000

// badRows tells of members that could not be archived as they are, of each once.
type badRows struct {
	log *slog.Logger

	mu   sync.Mutex
	told map[id.User]bool
}

func (b *badRows) first(user id.User) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told[user] || len(b.told) >= badRowsKept {
		return false
	}
	if b.told == nil {
		b.told = map[id.User]bool{}
	}
	b.told[user] = true
	return true
}

func (b *badRows) mended(batch Batch) {
	badMembers.WithLabelValues("mended").Add(float64(len(batch.Mended)))
	for _, user := range batch.Mended {
		if b.first(user) {
			b.log.Error("a member's entry in Redis is damaged; what of it could be read is archived: check it, and find out what else writes to this Redis",
				"guild", batch.Guild.ID, "member", user)
		}
	}
}

func (b *badRows) refused(batch Batch, user id.User, err error) {
	badMembers.WithLabelValues("refused").Inc()
	if b.first(user) {
		b.log.Error("a member cannot be archived, and is passed over until it changes again: set its XP anew to mend it",
			"guild", batch.Guild.ID, "member", user, "error", err)
	}
}

// write calls write with the batch, without the rows that it refuses.
func (b *badRows) write(batch Batch, write func(Batch) error) error {
	b.mended(batch)
	return withoutBadRows(batch, write, func(r Row, err error) { b.refused(batch, r.UserID, err) })
}

func (w *Writer) writeBatch(ctx context.Context, b Batch) error {
	return w.bad.write(b, func(part Batch) error {
		err := w.archive.WriteBatch(ctx, w.lease.Lease(), part)
		if err == nil {
			members.Add(float64(len(part.Rows)))
		}
		return err
	})
}

// withoutBadRows calls write with the batch and, for as long as that returns ErrBadRow, with halves of it, until the rows
// that are refused stand alone; it reports each of them and writes the batch without it. It ends at any other error. So
// every good row is written, and when it returns nil at least one call of write did, be it without rows.
func withoutBadRows(b Batch, write func(Batch) error, refused func(Row, error)) error {
	err := write(b)
	if !errors.Is(err, ErrBadRow) {
		return err
	}
	if len(b.Rows) <= 1 {
		for _, r := range b.Rows {
			refused(r, err)
		}
		b.Rows = nil
		return write(b)
	}
	half := len(b.Rows) / 2
	rest := b
	b.Rows, rest.Rows = b.Rows[:half], b.Rows[half:]
	if rev := b.Rows[half-1].Rev; rev > 0 {
		b.Rev = rev // the first half has all changes up to it, but for those that have the same
	}
	if err := withoutBadRows(b, write, refused); err != nil {
		return err
	}
	// The archive now holds what this batch itself brought.
	rest.Known, rest.Archived = max(rest.Known, b.Rev), max(rest.Archived, b.Rev)
	return withoutBadRows(rest, write, refused)
}
