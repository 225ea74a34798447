package snapshot

import (
	"context"
	"hash/maphash"
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
	// usesShards keeps requests for different guilds from waiting for each other, and shardSize bounds what is remembered:
	// 131,072 guilds in all, about 10 MB.
	usesShards = 32
	shardSize  = 4096
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
	seed    maphash.Seed
	shards  [usesShards]usesShard
	failing bool // Run's
}

type usesShard struct {
	mu    sync.RWMutex
	known map[id.Guild]struct{} // used since the last time that all was forgotten
	fresh []id.Guild            // of these, those that are to be noted
}

// NewUses returns a Uses for guilds that are idle after that time.
func NewUses(live Live, idle time.Duration, log *slog.Logger) *Uses {
	u := &Uses{live: live, idle: idle, log: log, seed: maphash.MakeSeed()}
	for i := range u.shards {
		u.shards[i].known = map[id.Guild]struct{}{}
	}
	return u
}

// Use remembers that a request is about the guild. It is safe for concurrent use, waits for nothing, and takes memory for the
// first use of a guild only.
func (u *Uses) Use(g id.Guild) {
	s := &u.shards[maphash.String(u.seed, string(g))%usesShards]
	s.mu.RLock()
	_, known := s.known[g]
	s.mu.RUnlock()
	if !known {
		s.add(g)
	}
}

func (s *usesShard) add(g id.Guild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.known[g]; known || len(s.fresh) == shardSize {
		return
	}
	if len(s.known) == shardSize {
		clear(s.known)
	}
	g = id.Guild(strings.Clone(string(g))) // of a request's first line, most likely
	s.known[g] = struct{}{}
	s.fresh = append(s.fresh, g)
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
			u.forget()
		case <-noting.C:
			u.note(ctx)
		}
	}
}

// forget makes the next use of each guild one to be noted.
func (u *Uses) forget() {
	for i := range u.shards {
		s := &u.shards[i]
		s.mu.Lock()
		clear(s.known)
		s.mu.Unlock()
	}
}

func (u *Uses) note(ctx context.Context) {
	noteCtx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	err := u.Note(noteCtx)
	if err != nil && !u.failing && ctx.Err() == nil {
		u.log.Warn("which guilds are used cannot be noted in Redis; they are noted when it answers again, and no guild leaves it meanwhile", "error", err)
	}
	u.failing = err != nil
}

// Note notes what was used since the last call, as Run does every second. What could not be noted is noted with its next use.
func (u *Uses) Note(ctx context.Context) error {
	fresh := u.takeFresh()
	for len(fresh) > 0 {
		part := fresh[:min(noteSize, len(fresh))]
		if err := u.live.NoteUses(ctx, part); err != nil {
			u.unknow(fresh)
			return err
		}
		fresh = fresh[len(part):]
	}
	return nil
}

func (u *Uses) takeFresh() (fresh []id.Guild) {
	for i := range u.shards {
		s := &u.shards[i]
		s.mu.Lock()
		fresh = slices.Concat(fresh, s.fresh)
		s.fresh = s.fresh[:0]
		s.mu.Unlock()
	}
	return fresh
}

func (u *Uses) unknow(guilds []id.Guild) {
	for _, g := range guilds {
		s := &u.shards[maphash.String(u.seed, string(g))%usesShards]
		s.mu.Lock()
		delete(s.known, g)
		s.mu.Unlock()
	}
}
