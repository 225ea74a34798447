package apikey

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// flushInterval is how long a request may not be written down yet, and so what a replica that is killed loses.
	flushInterval = 15 * time.Second
	// flushTime bounds one flush, so that one that hangs and the wait for the next are less than a minute together.
	flushTime = 10 * time.Second
	// flushSize is how many keys one transaction of the archive writes down.
	flushSize = 500
	// maxUsed bounds how many keys are counted between two flushes. It is twice what a Cache holds; requests of keys
	// beyond it are not counted.
	maxUsed = 100_000
)

// UseStore is where a Meter writes down what it counted: the archive.
type UseStore interface {
	// AddUse adds what a replica counted to what others did, and moves the time of last use forward. A flush that was added
	// already, by its number, changes nothing; keys that do not exist are left out. No key may be in it twice.
	AddUse(ctx context.Context, f UseFlush) error
}

// Meter counts requests by key in memory and flushes them in the background; the counts of replicas add up. A flush whose outcome is unknown
// is repeated, and added once. While the archive is away requests are counted for the hour in which it returns. A replica that is killed
// loses less than a minute.
type Meter struct {
	store   UseStore
	now     func() time.Time
	log     *slog.Logger
	replica string

	mu   sync.Mutex
	used map[string]KeyUse // since they were taken

	turn    chan struct{} // holds one while somebody flushes; guards what follows
	number  int64
	pending []UseFlush // taken, and not known to be written down
	failing bool
}

// NewMeter returns a Meter; now is the clock for the hour to which requests are added.
func NewMeter(store UseStore, now func() time.Time, log *slog.Logger) *Meter {
	return &Meter{store: store, now: now, log: log, replica: rand.Text(), used: map[string]KeyUse{}, turn: make(chan struct{}, 1)}
}

// Run flushes until ctx ends. It does not flush at the end: Flush does, when no more requests come.
func (m *Meter) Run(ctx context.Context) {
	ticker := time.NewTicker(flushInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			// Its failures are logged, and the next flush makes up for them.
			_ = m.Flush(ctx)
		}
	}
}

// Flush writes down what was counted until now. When it fails nothing is lost: the next one begins with the same. It
// waits no longer than ctx, nor than a few seconds.
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
	if err == nil {
		m.take()
		err = m.send(bounded)
	}
	switch {
	case err != nil && !m.failing && ctx.Err() == nil: // else it is the caller who gave up
		m.failing = true
		m.log.Warn("the use of API keys cannot be written to the archive; it is kept in memory", "error", err)
	case err == nil && m.failing:
		m.failing = false
		m.log.Info("the use of API keys is written to the archive again")
	}
	return err
}

// send writes down what was taken, in order.
func (m *Meter) send(ctx context.Context) error {
	for len(m.pending) > 0 {
		if err := m.store.AddUse(ctx, m.pending[0]); err != nil {
			return fmt.Errorf("write down the use of keys: %w", err)
		}
		m.pending = m.pending[1:]
	}
	return nil
}

// take turns the counts into flushes. The keys are in order, so that replicas cannot wait for each other's in a circle.
func (m *Meter) take() {
	m.mu.Lock()
	used := m.used
	m.used = map[string]KeyUse{}
	m.mu.Unlock()
	uses := slices.SortedFunc(maps.Values(used), func(x, y KeyUse) int { return cmp.Compare(x.KeyID, y.KeyID) })
	hour := HourOf(m.now())
	for piece := range slices.Chunk(uses, flushSize) {
		m.number++
		m.pending = append(m.pending, UseFlush{Replica: m.replica, Number: m.number, Hour: hour, Uses: piece})
	}
}

// count counts a request of a key. A nil Meter counts nothing.
func (m *Meter) count(keyID string, now time.Time) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	use, known := m.used[keyID]
	if known || len(m.used) < maxUsed {
		m.used[keyID] = KeyUse{KeyID: keyID, Requests: use.Requests + 1, LastUsed: now.UTC()}
	}
}
