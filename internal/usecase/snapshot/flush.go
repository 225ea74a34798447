package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/id"
)

// scanSize is how many members one look into the set aside is to find: a look costs a round trip, and Redis may be busy.
const scanSize = 4 * batchSize

// writeFlush writes what was set aside. While a batch is written, the next ones are read, so a set of any size needs the memory
// of a few. The live store is told of the commits once, at the end: until then `pending` in meta says what the archive may
// hold.
func (w *Writer) writeFlush(ctx context.Context, f Flush, due time.Time) error {
	state, err := w.archive.State(ctx, f.Guild)
	if err != nil {
		return err
	}
	if state.Epoch != f.Epoch {
		return ErrStale
	}
	f.Archived = state.Archived

	group, reading := errgroup.WithContext(ctx)
	batches := make(chan Batch, readsAtOnce)
	var last Batch
	group.Go(func() error {
		defer close(batches)
		return w.readFlush(reading, f, due, batches)
	})
	group.Go(func() error {
		for b := range batches {
			if last.Guild == f.Guild {
				b.Archived = max(b.Archived, last.Rev) // of which the live store is told at the end only
			}
			if err := w.writeBatch(reading, b); err != nil {
				return err
			}
			last = b
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if last.Guild == f.Guild {
		if err := w.live.Archived(ctx, last); err != nil {
			return err
		}
	}
	return w.live.EndFlush(ctx, f)
}

// sortSize is how many members of the set aside are put in order before they are read, at 40 bytes each.
const sortSize = 100_000

// readFlush reads what was set aside in batches, one after the other: the archive takes them in the order of their revs. Their
// members are in the order of their ids, as in the archive's index: so a batch is of few of its pages, which takes the archive
// less time (BenchmarkOneLargeGuild). They are spread over the time until due.
func (w *Writer) readFlush(ctx context.Context, f Flush, due time.Time, batches chan<- Batch) error {
	pace := newPace(f.Size, due)
	for cursor := uint64(0); ; {
		users, next, err := w.someOfFlush(ctx, f, cursor)
		if err != nil {
			return err
		}
		for len(users) > 0 {
			count := batchSize
			if pace.late() {
				count *= readsAtOnce
			}
			part := users[:min(count, len(users))]
			users = users[len(part):]
			pace.wait(ctx, len(part))
			read, err := w.readBatches(ctx, f, part)
			if err == nil {
				err = handOver(ctx, read, batches)
			}
			if err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

func handOver(ctx context.Context, read []Batch, batches chan<- Batch) error {
	for _, batch := range read {
		select {
		case batches <- batch:
		case <-ctx.Done():
			return fmt.Errorf("read the changed members: %w", context.Cause(ctx))
		}
	}
	return nil
}

// readsAtOnce is how many batches are read at the same time when the writer is late: each waits for its turn behind the
// requests, and when Redis is what bounds these, that is fifty times as long as to read it.
const readsAtOnce = 4

// readBatches reads users at the same time in batches, and returns these in the order in which the live store has read them.
func (w *Writer) readBatches(ctx context.Context, f Flush, users []id.User) ([]Batch, error) {
	batches := make([]Batch, (len(users)+batchSize-1)/batchSize)
	reading, ctx := errgroup.WithContext(ctx)
	for i := range batches {
		reading.Go(func() (err error) {
			batches[i], err = w.live.ReadBatch(ctx, f, users[i*batchSize:min((i+1)*batchSize, len(users))])
			return err
		})
	}
	err := reading.Wait()
	// The rev may be the same, and then the first is the one that did not know of it yet.
	slices.SortFunc(batches, func(a, b Batch) int { return cmp.Or(cmp.Compare(a.Rev, b.Rev), cmp.Compare(a.Known, b.Known)) })
	return batches, err
}

// someOfFlush returns about sortSize of the members, in order; a member that is there twice may be so here.
func (w *Writer) someOfFlush(ctx context.Context, f Flush, cursor uint64) (users []id.User, next uint64, err error) {
	for {
		var more []id.User
		if more, cursor, err = w.live.FlushMembers(ctx, f, cursor, scanSize); err != nil {
			return nil, 0, err
		}
		users = append(users, more...)
		if cursor == 0 || len(users) >= sortSize {
			break
		}
	}
	slices.Sort(users)
	return users, cursor, nil
}
