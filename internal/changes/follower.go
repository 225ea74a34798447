package changes

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

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

	mu      sync.Mutex // one look at a time
	seen    int64
	failing bool
}

// NewFollower returns a Follower that looks every interval, and at once when nudges (which may be nil) says so. on is
// called for each change; onGap when some can have been missed, so that nothing that was cached can be trusted. Both are
// called one at a time.
func NewFollower(log Log, nudges <-chan struct{}, interval time.Duration, logger *slog.Logger, on func(Change), onGap func()) *Follower {
	return &Follower{log: log, nudges: nudges, interval: interval, logger: logger, on: on, onGap: onGap}
}

// Start notes where the log ends. Nothing may be cached before it returns.
func (f *Follower) Start(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	latest, err := f.log.LatestChange(ctx)
	if err != nil {
		return fmt.Errorf("follow the change log: %w", err)
	}
	f.seen = latest
	return nil
}

// Run follows the log until ctx ends. While the log cannot be read it says so once and goes on trying.
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

// CatchUp returns when every change that was committed before the call has been told.
func (f *Follower) CatchUp(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	err := f.look(ctx)
	switch {
	case err != nil && !f.failing && ctx.Err() != context.Canceled:
		f.failing = true
		f.logger.Warn("changes of settings and keys cannot be read from the archive; what is cached serves on", "error", err)
	case err == nil && f.failing:
		f.failing = false
		f.logger.Info("changes of settings and keys are read from the archive again")
	}
	return err
}

func (f *Follower) look(ctx context.Context) error {
	for {
		found, err := f.log.Changes(ctx, f.seen, readLimit)
		if err != nil {
			return fmt.Errorf("read the change log: %w", err)
		}
		if len(found) == 0 {
			return f.checkEnd(ctx)
		}
		if found[0].Version != f.seen+1 {
			f.onGap()
		}
		for _, c := range found {
			f.on(c)
			f.seen = c.Version
		}
		if len(found) < readLimit {
			return nil
		}
	}
}

// checkEnd notices an archive that was restored from an older backup, whose log is behind what was seen, and one whose
// newest entries were purged.
func (f *Follower) checkEnd(ctx context.Context) error {
	latest, err := f.log.LatestChange(ctx)
	if err != nil {
		return fmt.Errorf("read the change log: %w", err)
	}
	if latest < f.seen {
		f.onGap()
		f.seen = latest
	}
	return nil
}
