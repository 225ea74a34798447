package redisstore

import (
	"context"
	"crypto/rand"
	"strconv"

	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var freezeScript = newScript("freeze")

// Freeze implements hydrate.Live.
func (s *Store) Freeze(ctx context.Context, g leaderboard.GuildRef) (h hydrate.Lock, err error) {
	h = newHydration(g)
	_, _, err = s.freeze(ctx, h, 1)
	return h, err
}

// KeepFrozen implements hydrate.Live.
func (s *Store) KeepFrozen(ctx context.Context, h hydrate.Lock) (state snapshot.State, archived bool, err error) {
	return s.freeze(ctx, h, 0)
}

func (s *Store) freeze(ctx context.Context, h hydrate.Lock, begin int) (state snapshot.State, archived bool, err error) {
	k := keysOf(h.Guild.ID)
	r, err := s.run(ctx, freezeScript, []string{k.meta(), k.lock(), k.dirty(), k.journal()},
		int64(h.Guild.Incarnation), h.Token, hydrationLock.Milliseconds(), begin)
	if err != nil {
		return state, false, err
	}
	state = snapshot.State{Epoch: r.of("epoch").number(), Archived: r.of("rev").number()}
	return state, r.of("waiting").number() == 0, r.done("freeze")
}

// newHydration makes a lock for a guild. Its token contains the incarnation, by which Drop finds the hydrations to stop.
func newHydration(g leaderboard.GuildRef) hydrate.Lock {
	return hydrate.Lock{Guild: g, Token: strconv.FormatInt(int64(g.Incarnation), 10) + "-" + rand.Text()}
}
