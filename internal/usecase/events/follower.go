package events

import (
	"context"
	"time"

	"levelboard/internal/usecase/leaderboard"
)

// maxWaiting is how many reads of a log wait for a follower: at one every 100 ms, a follower that takes nothing for six seconds is dropped.
const maxWaiting = 64

// Follower is one who follows a guild. Next is for one goroutine.
type Follower struct {
	feed   *Feed
	guild  leaderboard.GuildRef
	missed bool
	at     ID // up to where it was handed out

	joined   bool
	from     ID            // what comes after it comes by arriving, once joined
	arriving chan []Entry  // filled by the feed
	gone     chan struct{} // closed by the feed
	reason   error         // once gone
}

// At is the place after which the next entries are.
func (f *Follower) At() ID { return f.at }

// Missed reports whether events between the place that was asked for and At may be gone.
func (f *Follower) Missed() bool { return f.missed }

// Gone is closed when the feed has ended the follower.
func (f *Follower) Gone() <-chan struct{} { return f.gone }

// Next waits for entries and returns them in order, each once; none when there are none until then. It fails when ctx ends, with
// ErrSlow when the feed dropped a slow follower, when the feed is closed, and when what came before it cannot be read.
func (f *Follower) Next(ctx context.Context, until time.Time) ([]Entry, error) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	for {
		select {
		case <-f.gone:
			return nil, f.reason
		default:
		}
		entries, waited, err := f.more(ctx, timer.C)
		if err != nil || waited {
			return nil, err
		}
		for len(entries) > 0 && entries[0].ID.Compare(f.at) <= 0 {
			entries = entries[1:]
		}
		if len(entries) > 0 {
			f.at = entries[len(entries)-1].ID
			return entries, nil
		}
	}
}

// more reads the log while the feed is ahead, then takes what the feed hands out. Entries may repeat where both overlap.
func (f *Follower) more(ctx context.Context, timeUp <-chan time.Time) (entries []Entry, waited bool, err error) {
	if f.joined && f.at.Compare(f.from) >= 0 {
		select {
		case entries := <-f.arriving:
			return entries, false, nil
		case <-timeUp:
			return nil, true, nil
		case <-f.gone:
			return nil, false, f.reason
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	read, err := f.feed.log.ReadEvents(ctx, []Cursor{{f.guild, f.at}}, readAtOnce)
	if err != nil {
		return nil, false, err
	}
	if entries = read[0]; len(entries) > 0 {
		if len(entries) < readAtOnce {
			f.join()
		}
		return entries, false, nil
	}
	if f.joined {
		f.at = f.from // there is nothing between them
	}
	f.join()
	return nil, false, nil
}

func (f *Follower) join() {
	if !f.joined {
		f.from, f.joined = f.feed.join(f), true
	}
}

// Leave ends the following. It may be called more than once.
func (f *Follower) Leave() {
	f.feed.mu.Lock()
	defer f.feed.mu.Unlock()
	f.feed.drop(f, context.Canceled)
}
