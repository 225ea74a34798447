package events

import (
	"context"
	"time"

	"levelboard/internal/usecase/leaderboard"
)

// maxWaiting is how many batches wait for a follower: at one every 100 ms, a follower that takes nothing for six seconds is too slow.
const maxWaiting = 64

// Follower is one who follows a guild. Next is for one goroutine.
type Follower struct {
	feed   *Feed
	guild  leaderboard.GuildRef
	of     *followed
	missed bool
	at     ID     // up to where it was handed out
	batch  *batch // that it waits for; nil while it reads the log
}

// At is the place after which the next entries are.
func (f *Follower) At() ID { return f.at }

// Missed reports whether events between the place that was asked for and At may be gone.
func (f *Follower) Missed() bool { return f.missed }

// Next waits for entries and returns them in order, each once; none when there are none until then. It fails when ctx ends, with
// ErrSlow when too much waits for a slow follower, when the feed is closed, and when what came before it cannot be read.
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
			entries = entries[1:] // they were read from the log
		}
	}
	f.at = entries[len(entries)-1].ID
	return entries, nil
}

// catchUp reads what is in the log before the batch.
func (f *Follower) catchUp(ctx context.Context) ([]Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	read, err := f.feed.log.ReadEvents(ctx, []Cursor{{f.guild, f.at}}, readAtOnce)
	if err != nil {
		return nil, err
	}
	switch len(read[0]) {
	case 0:
		f.at = f.batch.after // there is nothing between them
	case readAtOnce:
		f.batch = nil // so far behind, it would be taken for slow
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
