package snapshot

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"levelboard/internal/domain/id"
)

const (
	// noteInterval is how long the first use of a guild is not known to the Writer.
	noteInterval = time.Second
	// noteTime bounds one round of notes.
	noteTime = 5 * time.Second
	// noteSize is how many guilds one round trip notes.
	noteSize = 500
	// noteEvery is the part of the idle time after which a guild that is still used is noted again.
	noteEvery = 8
	// usesKept bounds what is remembered: about 10 MB.
	usesKept = 131_072
)

// Uses remembers which guilds this replica's requests are about, and notes it in the live store, where the Writer sees which
// guilds nobody uses. A request costs a look into a map; a guild in use is noted eight times in the time after which it would
// be idle, whatever happens with it. Nothing of it has to be kept: a guild whose use was not noted is loaded once more.
type Uses struct {
	live interface {
		NoteUses(ctx context.Context, guilds []id.Guild) error
	}
	idle    time.Duration
	log     *slog.Logger
	failing bool // Run's

	mu    sync.RWMutex
	known map[id.Guild]struct{} // used since the last time that all was forgotten
	fresh []id.Guild            // of these, those that are to be noted
}

// NewUses returns a Uses for guilds that are idle after that time.
func NewUses(live Live, idle time.Duration, log *slog.Logger) *Uses {
	return &Uses{live: live, idle: idle, log: log, known: map[id.Guild]struct{}{}}
}

// Use remembers that a request is about the guild. It is safe for concurrent use, waits for nothing, and takes memory for the
// first use of a guild only.
func (u *Uses) Use(g id.Guild) {
	u.mu.RLock()
	_, known := u.known[g]
	u.mu.RUnlock()
	if known {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, known := u.known[g]; known || len(u.fresh) == usesKept {
		return
	}
	if len(u.known) == usesKept {
		clear(u.known)
	}
	g = id.Guild(strings.Clone(string(g))) // of a request's first line, most likely
	u.known[g] = struct{}{}
	u.fresh = append(u.fresh, g)
}

// Run notes uses until ctx ends.
func (u *Uses) Run(ctx context.Context) {
	noting, forgetting := time.NewTicker(noteInterval), time.NewTicker(max(u.idle/noteEvery, noteInterval))
	defer noting.Stop()
	defer forgetting.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-forgetting.C:
			u.forget() // so that the next use of each guild is one to be noted
		case <-noting.C:
			u.note(ctx)
		}
	}
}

func (u *Uses) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	clear(u.known)
}

func (u *Uses) note(ctx context.Context) {
	noteCtx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	err := u.noteFresh(noteCtx)
	if err != nil && !u.failing && ctx.Err() == nil {
		u.log.Warn("uses of guilds cannot be noted in Redis; they are noted when it responds again, and no guild leaves Redis meanwhile", "error", err)
	}
	u.failing = err != nil
}

// noteFresh notes what was used since the last call. After an error all of it is noted with its next use.
func (u *Uses) noteFresh(ctx context.Context) error {
	u.mu.Lock()
	fresh := u.fresh
	u.fresh = nil
	u.mu.Unlock()
	for part := range slices.Chunk(fresh, noteSize) {
		if err := u.live.NoteUses(ctx, part); err != nil {
			u.mu.Lock()
			defer u.mu.Unlock()
			for _, g := range fresh {
				delete(u.known, g)
			}
			return err
		}
	}
	return nil
}
