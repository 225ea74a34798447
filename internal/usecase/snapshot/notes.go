package snapshot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"levelboard/internal/domain/id"
)

const (
	// noteInterval is the pause between two rounds of notes.
	noteInterval = time.Second
	// noteTime bounds one round.
	noteTime = 5 * time.Second
	// noteSize is how many guilds one round trip notes.
	noteSize = 500
	// noteEvery divides the idle time: a guild in use is noted once in each part.
	noteEvery = 8
	// notesKept bounds the guilds in memory: about 10 MB.
	notesKept = 131_072
)

// Notes collects the guilds that this replica's requests used or changed, and notes them in the live store once a
// second. Losing notes is safe: a guild that seems unused is loaded again, and the next sweep finds a changed one.
type Notes struct {
	note  func(ctx context.Context, guilds []id.Guild) error
	again time.Duration

	mu    sync.Mutex
	known map[id.Guild]struct{} // added since forget was called last
	fresh []id.Guild            // to be noted, in the order of their Add
}

// NewNotes returns Notes that call note. A guild that was noted is not noted
// once more before the time again is over. With 0, the next round does it.
func NewNotes(note func(ctx context.Context, guilds []id.Guild) error, again time.Duration) *Notes {
	return &Notes{note: note, again: again, known: map[id.Guild]struct{}{}}
}

// NewUses returns Notes of the guilds that requests use. In the time after which a guild is idle, one in use is noted eight times.
func NewUses(live Live, idle time.Duration) *Notes {
	return NewNotes(live.NoteUses, max(idle/noteEvery, noteInterval))
}

// Add adds a guild to the next round. It is safe for concurrent use, and does not block.
func (n *Notes) Add(g id.Guild) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.known[g]; known || len(n.fresh) >= notesKept {
		return
	}
	if len(n.known) >= notesKept {
		clear(n.known)
	}
	n.known[g] = struct{}{}
	n.fresh = append(n.fresh, g)
}

// Run notes guilds until ctx ends, and then the remaining ones.
func (n *Notes) Run(ctx context.Context, log *slog.Logger) {
	noting := time.NewTicker(noteInterval)
	defer noting.Stop()
	var forgetting <-chan time.Time
	if n.again > 0 {
		ticker := time.NewTicker(n.again)
		defer ticker.Stop()
		forgetting = ticker.C
	}
	failing := false
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
			defer cancel()
			_ = n.Flush(last)
			return
		case <-forgetting:
			n.forget() // from now on, each guild is noted at its next Add
		case <-noting.C:
			failing = n.flushLogged(ctx, log, failing)
		}
	}
}

func (n *Notes) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.known)
}

func (n *Notes) flushLogged(ctx context.Context, log *slog.Logger, failing bool) bool {
	flushCtx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	err := n.Flush(flushCtx)
	if err != nil && !failing && ctx.Err() == nil {
		log.WarnContext(ctx, "guilds that were used or changed cannot be noted in Redis; they are noted when it responds again", "error", err)
	}
	return err != nil
}

// Flush notes the guilds added since the last call. After an error the next call retries.
func (n *Notes) Flush(ctx context.Context) error {
	n.mu.Lock()
	fresh := n.fresh
	n.fresh = nil
	if n.again == 0 {
		clear(n.known)
	}
	n.mu.Unlock()
	for len(fresh) > 0 {
		part := fresh[:min(noteSize, len(fresh))]
		if err := n.note(ctx, part); err != nil {
			n.putBack(fresh)
			return err
		}
		fresh = fresh[len(part):]
	}
	return nil
}

// putBack adds guilds that could not be noted. A guild added meanwhile may be noted twice.
func (n *Notes) putBack(guilds []id.Guild) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fresh = append(guilds, n.fresh...)
	n.fresh = n.fresh[:min(len(n.fresh), notesKept)]
	for _, g := range guilds {
		n.known[g] = struct{}{}
	}
}
