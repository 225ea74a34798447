package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/guild"
	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
	"levelboard/internal/snapshot"
)

// surveyPipeline is how many guilds are looked at in one round trip.
const surveyPipeline = 500

// Survey implements snapshot.Live. It costs the server a few microseconds for each guild. A guild whose answer is an error, or
// cannot be read, is returned as changed: BeginFlush says what is wrong with it.
func (s *Store) Survey(ctx context.Context, guilds []id.Guild, idle time.Duration) (changed []id.Guild, cold []snapshot.Cold, err error) {
	keys := func(g id.Guild) []string {
		k := keysOf(g)
		return []string{k.meta(), k.lock(), k.dirty()}
	}
	err = s.onEach(ctx, surveyScript, guilds, keys, func(g id.Guild, answer *redis.Cmd) {
		values, err := answer.Slice()
		if err == nil && len(values) == 0 {
			return
		}
		if c, err := coldOf(g, values); err == nil {
			cold = append(cold, c)
		} else {
			changed = append(changed, g)
		}
	}, cooldownMillis(idle))
	return changed, cold, err
}

// coldOf reads the answer about a cold guild; it fails for any other.
func coldOf(g id.Guild, r reply) (c snapshot.Cold, err error) {
	var zero, incarnation int64
	err = r.numbers(&zero, &incarnation, &c.State.Epoch, &c.State.Archived)
	c.Guild = leaderboard.GuildRef{ID: g, Incarnation: guild.Incarnation(incarnation)}
	return c, err
}

// NoteUses implements snapshot.Live.
func (s *Store) NoteUses(ctx context.Context, guilds []id.Guild) error {
	keys := func(g id.Guild) []string { return []string{keysOf(g).meta()} }
	return s.onEach(ctx, usedScript, guilds, keys, func(id.Guild, *redis.Cmd) {})
}

// Evict implements snapshot.Live.
func (s *Store) Evict(ctx context.Context, c snapshot.Cold, idle time.Duration) (gone bool, err error) {
	k := keysOf(c.Guild.ID)
	keys := append([]string{k.meta(), k.lock(), k.dirty(), k.events(c.Guild.Incarnation)}, k.members()...)
	r, err := s.run(ctx, evictScript, keys, int64(c.Guild.Incarnation), c.State.Epoch, c.State.Archived, cooldownMillis(idle))
	if errors.Is(err, leaderboard.ErrNotLoaded) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n, err := r.number(0)
	if err != nil {
		return false, fmt.Errorf("redis: evict: %w", err)
	}
	return n == 1, nil
}

// onEach runs a script once for each guild, many in a round trip, and calls take with what came back, an error of a script
// included. It ends when the server cannot be asked.
func (s *Store) onEach(ctx context.Context, sc *script, guilds []id.Guild, keys func(id.Guild) []string, take func(id.Guild, *redis.Cmd), args ...any) (err error) {
	began := time.Now()
	defer func() {
		if s.observe != nil {
			s.observe(sc.name, time.Since(began), err)
		}
	}()
	for part := range slices.Chunk(guilds, surveyPipeline) {
		asked := make([]*redis.Cmd, len(part))
		err := s.onServer(ctx, func(on *server) error {
			_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
				for i, g := range part {
					asked[i] = p.EvalSha(ctx, on.digests[sc], keys(g), args...)
				}
				return nil
			})
			return err
		})
		if !answered(err) {
			return fmt.Errorf("redis: %s: %w", sc.name, err)
		}
		for i, g := range part {
			take(g, asked[i])
		}
	}
	return nil
}
