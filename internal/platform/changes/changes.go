// Package changes carries changes of guilds and keys to every replica. The archive gives each change the next number
// of one log, in the same transaction. Every replica follows the log, and invalidates its cache of the changed guild
// or key. A nudge through Redis only says "read the log now"; losing one does no harm. XP is not in the log.
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

// Announcer makes a committed change known: to this replica before it returns, to the others soon after.
type Announcer interface {
	Announce(ctx context.Context, kind Kind, subject string)
}

// Log is the log of changes that a Follower reads.
type Log interface {
	// Changes returns at most limit entries after a version, in order. If entries were purged, the first one's version is higher than after+1.
	Changes(ctx context.Context, after int64, limit int) ([]Change, error)
	// LatestChange returns the version of the newest entry that ever existed, or 0 before the first.
	LatestChange(ctx context.Context) (int64, error)
}

const (
	// readLimit is how many entries are read at once.
	readLimit = 500
	// readTime bounds one look at the log.
	readTime = 2 * time.Second
)

// Follower reports every change to its owner once and in order, soon after any replica commits it.
type Follower struct {
	log      Log
	nudges   <-chan struct{}
	interval time.Duration
	logger   *slog.Logger
	on       func(Change)
	onGap    func()

	turn    chan struct{} // a mutex, as a channel so that waiting callers can give up; guards the fields below
	seen    int64
	failing bool
}

// NewFollower returns a Follower that reads the log every interval, and at once after a nudge. nudges may be nil. It calls on for each change. It
// calls onGap when it may have missed some, so that every cached value may be stale. The calls come one at a time and must not call the Follower.
func NewFollower(log Log, nudges <-chan struct{}, interval time.Duration, logger *slog.Logger, on func(Change), onGap func()) *Follower {
	return &Follower{
		log: log, nudges: nudges, interval: interval, logger: logger, on: on, onGap: onGap, turn: make(chan struct{}, 1),
	}
}

// Start finds the end of the log. Before it returns, cache nothing and call neither Run nor CatchUp.
func (f *Follower) Start(ctx context.Context) error {
	latest, err := f.log.LatestChange(ctx)
	if err != nil {
		return fmt.Errorf("follow the change log: %w", err)
	}
	f.seen = latest
	return nil
}

// Run follows the log until ctx ends. If the log cannot be read, Run logs that once and keeps trying.
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
		// CatchUp logs its failures, and the next read covers them.
		_ = f.CatchUp(ctx)
	}
}

// CatchUp returns when the Follower has reported every change that was committed before the call. It waits until
// ctx ends, at most readTime. It fails when it cannot read the log to its end; Run reports the rest later.
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
	case err != nil && !f.failing && ctx.Err() == nil: // not if the caller gave up
		f.failing = true
		f.logger.WarnContext(ctx, "changes of settings and keys cannot be read from the archive; cached ones are used meanwhile: check the archive", "error", err)
	case err == nil && f.failing:
		f.failing = false
		f.logger.InfoContext(ctx, "changes of settings and keys are read from the archive again")
	}
	return err
}

// look reads to the log's end, and compares the last entry with the newest version. If they differ, there are
// changes that cannot be read: the archive was restored from an older backup, or its newest entries were purged.
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
		if latest > f.seen && !again { // most likely committed since the read
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
