package events

import (
	"context"
	"time"

	"levelboard/internal/usecase/leaderboard"
)

// maxWaiting is how many batches may wait for a follower. At one batch every 100 ms, a follower that reads nothing for six seconds is too slow.
const maxWaiting = 64

// Follower follows a guild. Next is for one goroutine.
type Follower struct {
	feed   *Feed
	guild  leaderboard.GuildRef
	of     *followed
	missed bool
	at     ID     // the position up to which Next has returned entries
	batch  *batch // the batch that it waits for; nil while it reads the log
}

// At returns the position before the next entries.
func (f *Follower) At() ID { return f.at }

// Missed reports whether events between the requested position and At may be lost.
func (f *Follower) Missed() bool { return f.missed }

// Next waits for entries until a time and returns them in order, each once, or none. It fails when ctx ends, when the
// feed is closed, when earlier entries cannot be read, and with ErrSlow when too many batches wait for this follower.
func (f *Follower) Next(ctx context.Context, until time.Time) (entries []Entry, err error) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	for len(entries) == 0 {
		if f.feed.open.Err() != nil {
			return nil, errClosed
		}
		if f.batch == nil {
			f.batch = f.feed.tail(f.of)
		}
		if f.at.Compare(f.batch.after) < 0 {
			if entries, err = f.catchUp(ctx); err != nil {
				return nil, err
			}
			continue
		}
		select {
		case <-f.batch.filled:
			entries, f.batch = f.batch.entries, f.batch.next
		case <-timer.C:
			return nil, nil
		case <-f.feed.Closed():
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if f.of.filled.Load()-f.batch.number > maxWaiting {
			return nil, ErrSlow
		}
		for len(entries) > 0 && entries[0].ID.Compare(f.at) <= 0 {
			entries = entries[1:] // the follower has read them from the log
		}
	}
	f.at = entries[len(entries)-1].ID
	return entries, nil
}

// catchUp reads the entries of the log that are before the batch.
func (f *Follower) catchUp(ctx context.Context) ([]Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	read, err := f.feed.log.ReadEvents(ctx, []Cursor{{f.guild, f.at}}, readAtOnce)
	if err != nil {
		return nil, err
	}
	switch len(read[0]) {
	case 0:
		f.at = f.batch.after // the log has no entry between them
	case readAtOnce:
		f.batch = nil // start at a newer batch, or Next would call the follower slow
	}
	return read[0], nil
}

func (f *Feed) tail(of *followed) *batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return of.tail
}

// Leave ends the following.
func (f *Follower) Leave() {
	f.feed.mu.Lock()
	defer f.feed.mu.Unlock()
	if f.of.followers--; f.of.followers == 0 {
		delete(f.feed.guilds, f.guild)
	}
}
