package apikey

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// flushInterval is how long a counted request may wait to be written. A killed replica loses that much.
	flushInterval = 15 * time.Second
	// flushTime bounds one flush. A flush that hangs and the pause before the next take less than a minute together.
	flushTime = 10 * time.Second
	// flushSize is how many keys are written in one transaction of the archive.
	flushSize = 500
	// maxUsed bounds the keys counted between two flushes. It is twice the size of a Cache. Requests of further keys are not counted.
	maxUsed = 100_000
)

// UseStore is the archive as a Meter needs it.
type UseStore interface {
	// AddUse adds a replica's counts to those of an hour (HourOf), and moves the time of last
	// use forward. It ignores keys that do not exist. uses must not contain a key twice.
	AddUse(ctx context.Context, hour int64, uses []KeyUse) error
}

// Meter counts requests by key in memory and flushes them in the background; the counts of replicas add
// up. A flush whose answer is lost is repeated and may be added twice. Requests made while the archive is
// down are counted for the hour in which it returns. A replica that is killed loses less than a minute.
type Meter struct {
	store UseStore
	now   func() time.Time
	log   *slog.Logger

	mu   sync.Mutex
	used map[string]KeyUse // counts that may not be written yet

	turn    chan struct{} // a mutex, as a channel so that waiting callers can give up; guards failing
	failing bool
}

// NewMeter returns a Meter; now is the clock for the hour to which requests are added.
func NewMeter(store UseStore, now func() time.Time, log *slog.Logger) *Meter {
	return &Meter{store: store, now: now, log: log, used: map[string]KeyUse{}, turn: make(chan struct{}, 1)}
}

// Run flushes until ctx ends. The last flush is its caller's, by Flush, when no more requests come.
func (m *Meter) Run(ctx context.Context) {
	ticker := time.NewTicker(flushInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			// Flush logs its failures, and the next flush writes what this one could not.
			_ = m.Flush(ctx)
		}
	}
}

// Flush writes the counts made so far. If it fails, the next one writes them. It ends with ctx, and after flushTime at the latest.
func (m *Meter) Flush(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-bounded.Done():
		return fmt.Errorf("wait for a turn to write down the use of keys: %w", bounded.Err())
	}
	err := m.send(bounded)
	switch {
	case err != nil && !m.failing && ctx.Err() == nil: // otherwise the caller gave up
		m.failing = true
		m.log.Warn("the use of API keys cannot be written to the archive; it is kept in memory", "error", err)
	case err == nil && m.failing:
		m.failing = false
		m.log.Info("the use of API keys is written to the archive again")
	}
	return err
}

// send writes the counts, and keeps those that it could not write. It sorts the keys so that replicas cannot deadlock.
func (m *Meter) send(ctx context.Context) error {
	m.mu.Lock()
	used := m.used
	m.used = map[string]KeyUse{}
	m.mu.Unlock()
	uses := slices.SortedFunc(maps.Values(used), func(x, y KeyUse) int { return cmp.Compare(x.KeyID, y.KeyID) })
	for piece := range slices.Chunk(uses, flushSize) {
		if err := m.store.AddUse(ctx, HourOf(m.now()), piece); err != nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			for _, u := range uses {
				m.add(u)
			}
			return fmt.Errorf("write down the use of keys: %w", err)
		}
		uses = uses[len(piece):]
	}
	return nil
}

// count counts a request of a key. A nil Meter counts nothing.
func (m *Meter) count(keyID string, now time.Time) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(KeyUse{KeyID: keyID, Requests: 1, LastUsed: now.UTC()})
}

// add adds to the counts of a key. mu is held.
func (m *Meter) add(u KeyUse) {
	use, known := m.used[u.KeyID]
	if !known && len(m.used) >= maxUsed {
		return
	}
	if use.LastUsed.After(u.LastUsed) {
		u.LastUsed = use.LastUsed
	}
	u.Requests += use.Requests
	m.used[u.KeyID] = u
}
