// Package changes carries changes of guilds and keys to every replica. Each change of a guild or a key gets the next number of one log in
// the archive, in the same transaction; every replica follows the log and forgets what it had cached of the subject. A message on the live
// store only says "look now"; that it is lost does no harm. XP is not in the log.
package changes

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// Kind is the kind of a change's subject.
type Kind string

// The kinds.
const (
	Guild Kind = "guild" // Subject is the guild's id
	Key   Kind = "key"   // Subject is the key's id
)

// Change is one entry of the log.
type Change struct {
	Version int64 // 1, 2, 3, ... in the order of commits, without gaps
	Kind    Kind
	Subject string
}

// Announcer makes committed changes known: here before it returns, to the other replicas soon after.
type Announcer interface {
	Announce(ctx context.Context, kind Kind, subject string)
}

// Log is where a Follower reads.
type Log interface {
	// Changes returns the entries after a version, in order, at most limit. When entries were purged, the first one's
	// version is higher than after+1.
	Changes(ctx context.Context, after int64, limit int) ([]Change, error)
	// LatestChange returns the version of the newest entry there ever was; 0 before the first.
	LatestChange(ctx context.Context) (int64, error)
}

const (
	// readLimit is how many entries are read at once.
	readLimit = 500
	// readTime bounds one look at the log.
	readTime = 2 * time.Second
)

// Follower tells its owner of every change, once and in order, soon after it was committed by whichever replica.
type Follower struct {
	log      Log
	nudges   <-chan struct{}
	interval time.Duration
	logger   *slog.Logger
	on       func(Change)
	onGap    func()

	turn    chan struct{} // holds one while somebody looks; guards the fields below
	seen    int64
	failing bool
}

// NewFollower returns a Follower that looks every interval, and at once when nudges (which may be nil) says so. on is
// called for each change; onGap when some can have been missed, so that nothing that was cached can be trusted. Both are
// called one at a time, and must not call the Follower.
func NewFollower(log Log, nudges <-chan struct{}, interval time.Duration, logger *slog.Logger, on func(Change), onGap func()) *Follower {
	return &Follower{
		log: log, nudges: nudges, interval: interval, logger: logger, on: on, onGap: onGap, turn: make(chan struct{}, 1),
	}
}

// Start notes where the log ends. Nothing may be cached before it returns, and neither Run nor CatchUp be called.
func (f *Follower) Start(ctx context.Context) error {
	latest, err := f.log.LatestChange(ctx)
	if err != nil {
		return fmt.Errorf("follow the change log: %w", err)
	}
	f.seen = latest
	return nil
}

// Run follows the log until ctx ends. While the log cannot be read it logs that once and retries.
func (f *Follower) Run(ctx context.Context) {
	ticker := time.NewTicker(f.interval)
	defer ticker.Stop()
	nudges := f.nudges
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case _, open := <-nudges:
			if !open {
				nudges = nil
			}
		}
		// Its failures are logged, and the next look makes up for them.
		_ = f.CatchUp(ctx)
	}
}

// CatchUp returns when every change that was committed before the call has been told, or an error when the log could not be
// read to its end; Run makes up for it then. It waits no longer than ctx, nor than a few seconds.
func (f *Follower) CatchUp(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-bounded.Done():
		return fmt.Errorf("wait for a turn at the change log: %w", bounded.Err())
	}
	err := f.look(bounded)
	switch {
	case err != nil && !f.failing && ctx.Err() == nil: // else it is the caller who gave up
		f.failing = true
		f.logger.WarnContext(ctx, "changes of settings and keys cannot be read from the archive; cached ones are used meanwhile: check the archive", "error", err)
	case err == nil && f.failing:
		f.failing = false
		f.logger.InfoContext(ctx, "changes of settings and keys are read from the archive again")
	}
	return err
}

// look reads to the log's end. The end is asked for too, because a log that ends elsewhere than what was read from it
// tells of changes that cannot be read: an archive restored from an older backup, or one whose newest entries were purged.
func (f *Follower) look(ctx context.Context) error {
	for again := false; ; {
		found, err := f.log.Changes(ctx, f.seen, readLimit)
		if err != nil {
			return fmt.Errorf("read the change log: %w", err)
		}
		f.tell(found)
		if len(found) > 0 && len(found) < readLimit {
			return nil
		}
		if len(found) > 0 {
			continue
		}
		latest, err := f.log.LatestChange(ctx)
		if err != nil {
			return fmt.Errorf("read the end of the change log: %w", err)
		}
		if latest == f.seen {
			return nil
		}
		if latest > f.seen && !again { // most likely committed since the question before
			again = true
			continue
		}
		f.onGap()
		f.seen = latest
		return nil
	}
}

func (f *Follower) tell(found []Change) {
	for _, c := range found {
		if c.Version != f.seen+1 {
			f.onGap()
		}
		f.on(c)
		f.seen = c.Version
	}
}
