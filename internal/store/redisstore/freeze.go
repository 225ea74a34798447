package redisstore

import (
	"context"
	"crypto/rand"
	"strconv"

	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var (
	freezeScript  = newScript("freeze", "loaded")
	settledScript = newScript("settled")
)

// Freeze implements checkpoints.Live.
func (s *Store) Freeze(ctx context.Context, g leaderboard.GuildRef) (hydrate.Lock, error) {
	h := newHydration(g)
	k := keysOf(g.ID)
	_, err := s.run(ctx, freezeScript, []string{k.meta(), k.lock()}, int64(g.Incarnation), h.Token, hydrationLock.Milliseconds())
	return h, err
}

// newHydration makes a hold on a guild. The incarnation is in the token so that Drop can tell whose it stops.
func newHydration(g leaderboard.GuildRef) hydrate.Lock {
	return hydrate.Lock{Guild: g, Token: strconv.FormatInt(int64(g.Incarnation), 10) + "-" + rand.Text()}
}

// Settled implements checkpoints.Live.
func (s *Store) Settled(ctx context.Context, h hydrate.Lock) (state snapshot.State, settled bool, err error) {
	k := keysOf(h.Guild.ID)
	r, err := s.run(ctx, settledScript, []string{k.meta(), k.lock(), k.dirty(), k.journal()},
		int64(h.Guild.Incarnation), h.Token, hydrationLock.Milliseconds())
	if err != nil {
		return state, false, err
	}
	var waiting int64
	err = r.numbers(&waiting, &state.Epoch, &state.Archived)
	return state, waiting == 0, wrap("settled", err)
}
