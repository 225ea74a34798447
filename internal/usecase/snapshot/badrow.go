package snapshot

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"

	"levelboard/internal/domain/id"
)

// badRowsKept bounds for how many members a log line is remembered, and with it how many lines there are: a damaged
// member may change every second.
const badRowsKept = 1000

// BadRows tells of members that could not be archived as they are, of each once. Only at level debug does it name them: a log is not erased.
type BadRows struct {
	log *slog.Logger

	mu   sync.Mutex
	told map[id.User]bool
}

var errDamaged = errors.New("its entry in Redis is damaged")

// NewBadRows returns a BadRows that writes to log.
func NewBadRows(log *slog.Logger) *BadRows { return &BadRows{log: log, told: map[id.User]bool{}} }

func (b *BadRows) tell(text string, g id.Guild, user id.User, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told[user] || len(b.told) >= badRowsKept {
		return
	}
	b.told[user] = true
	b.log.Error(text+": log at level debug to see which", "guild", g, "error", err)
	b.log.Debug("the member that cannot be archived as it is", "guild", g, "member", user)
}

func (b *BadRows) mended(batch Batch) {
	badMembers.WithLabelValues("mended").Add(float64(len(batch.Mended)))
	for _, user := range batch.Mended {
		b.tell("a member is archived as far as it can be read; check it, and find out what else writes to this Redis", batch.Guild.ID, user, errDamaged)
	}
}

func (b *BadRows) refused(batch Batch, user id.User, err error) {
	badMembers.WithLabelValues("refused").Inc()
	b.tell("a member cannot be archived, and is passed over until it changes again; set its XP to mend it", batch.Guild.ID, user, err)
}

// Write calls write with the batch, without the rows that it refuses.
func (b *BadRows) Write(batch Batch, write func(Batch) error) error {
	b.mended(batch)
	return withoutBadRows(batch, write, func(r Row, err error) { b.refused(batch, r.UserID, err) })
}

// writeGood writes a batch without the rows that the archive refuses.
func (w *Writer) writeGood(ctx context.Context, b Batch) error {
	return w.bad.Write(b, func(part Batch) error {
		err := WriteBatch(ctx, w.archive, w.lease.Lease(), part)
		if err == nil {
			members.Add(float64(len(part.Rows)))
		}
		return err
	})
}

// withoutBadRows calls write with the batch and, if that returns ErrBadRow, with halves of it, and halves of these, until the rows
// that are refused stand alone. It reports each of them, and in the end writes the batch without them: parts raise no rev, since only
// all rows together have all that was changed up to it. It ends at any other error.
func withoutBadRows(b Batch, write func(Batch) error, refused func(Row, error)) error {
	err := write(b)
	if !errors.Is(err, ErrBadRow) {
		return err
	}
	part := b
	part.AsOf, part.Rev = cmp.Or(b.AsOf, b.Rev), 0
	b.Rows = nil
	var sort func(rows []Row, err error) error
	sort = func(rows []Row, err error) error {
		switch half := len(rows) / 2; {
		case err == nil:
			b.Rows = append(b.Rows, rows...)
		case !errors.Is(err, ErrBadRow):
			return err
		case len(rows) == 1:
			refused(rows[0], err)
		case len(rows) > 1:
			for _, part.Rows = range [][]Row{rows[:half], rows[half:]} {
				if err := sort(part.Rows, write(part)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := sort(part.Rows, err); err != nil {
		return err
	}
	if err = write(b); errors.Is(err, ErrBadRow) { // only all of them are too much, and each was written
		b.Rows = nil
		err = write(b)
	}
	return err
}
