package redisstore

import (
	"context"
	"errors"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var (
	surveyScript = newScript("survey", "now")
	usedScript   = makeScript("used", redisconn.ScriptOptions{AllowOOM: true}, []string{"now"})
	evictScript  = makeScript("evict", redisconn.ScriptOptions{AllowOOM: true}, []string{"epoch", "now"})
)

// Survey implements snapshot.Live. It costs the server a few microseconds for each guild. After an error it returns the guild as changed, so that
// ReadChanges reports the error.
func (s *Store) Survey(ctx context.Context, guilds []id.Guild, idle time.Duration) (seen snapshot.Seen, err error) {
	keys := func(k guildKeys) []string { return []string{k.meta(), k.lock(), k.dirty(), k.journal()} }
	err = s.onEach(ctx, surveyScript, guilds, keys, func(g id.Guild, r reply, err error) error {
		if err == nil && r.size() == 0 {
			return nil
		}
		state := r.of("state").text()
		if state == "unverified" {
			seen.Unverified = append(seen.Unverified, g)
			return nil
		}
		q := snapshot.Quiet{Guild: r.guild(g), State: snapshot.State{Epoch: r.of("epoch").number(), Archived: r.of("archived").number()}}
		switch {
		case *r.bad == nil && state == "cold":
			seen.Cold = append(seen.Cold, q)
		case *r.bad == nil && state == "warm":
			seen.Warm = append(seen.Warm, q)
		default:
			seen.Changed = append(seen.Changed, g)
		}
		return nil
	}, cooldownMillis(idle))
	return seen, err
}

// NoteUses implements snapshot.Live.
func (s *Store) NoteUses(ctx context.Context, guilds []id.Guild) (err error) {
	keys := func(k guildKeys) []string { return []string{k.meta()} }
	return s.onEach(ctx, usedScript, guilds, keys, func(_ id.Guild, _ reply, err error) error { return err })
}

// Evict implements snapshot.Live.
func (s *Store) Evict(ctx context.Context, c snapshot.Quiet, idle time.Duration) (gone bool, err error) {
	return s.evict(ctx, c.Guild, c.State, idle, "")
}

// EvictFrozen implements hydrate.Live.
func (s *Store) EvictFrozen(ctx context.Context, h hydrate.Lock, state snapshot.State) error {
	gone, err := s.evict(ctx, h.Guild, state, 0, h.Token)
	if err == nil && !gone {
		err = hydrate.ErrLost
	}
	return err
}

func (s *Store) evict(ctx context.Context, g leaderboard.GuildRef, state snapshot.State, idle time.Duration, token string) (gone bool, err error) {
	k := keysOf(g.ID)
	keys := append([]string{k.meta(), k.lock(), k.dirty(), k.journal(), k.events(g.Incarnation), k.evicted(), k.hidden()}, k.members()...)
	r, err := s.run(ctx, evictScript, keys,
		int64(g.Incarnation), state.Epoch, state.Archived, cooldownMillis(idle), s.onceTTL.Milliseconds(), token)
	if errors.Is(err, leaderboard.ErrNotLoaded) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.of("gone").number() == 1, r.done("evict")
}
