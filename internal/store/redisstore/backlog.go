package redisstore

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/snapshot"
)

var backlogScript = newScript("backlog", "now")

// backlogGuilds is about how many guilds a Backlog asks: those take the server some 20 ms.
const backlogGuilds = 2000

// Backlog implements snapshot.Live. However many guilds wait, it costs the server no more than backlogGuilds of them and their list.
func (s *Store) Backlog(ctx context.Context, underway, stuck []id.Guild) (b snapshot.Backlog, err error) {
	if err := s.changed.Flush(ctx); err != nil {
		return b, err
	}
	listed, err := s.client.ZRange(ctx, changedKey, 0, -1).Result()
	if err != nil {
		return b, fmt.Errorf("redis: backlog: %w", err)
	}
	waiting := make(map[id.Guild]struct{}, len(listed)+len(underway))
	for _, g := range underway {
		waiting[g] = struct{}{}
	}
	for _, g := range listed {
		waiting[id.Guild(g)] = struct{}{}
	}
	all := slices.Collect(maps.Keys(waiting))
	asked := sample(all, backlogGuilds)
	if b, err = s.backlogOf(ctx, asked); err != nil || len(asked) == len(all) {
		return b, err
	}
	b.Members = b.Members * int64(len(all)) / int64(len(asked))
	oldest, err := s.backlogOf(ctx, sample(slices.Clone(stuck), backlogGuilds))
	b.Oldest = max(b.Oldest, oldest.Oldest)
	return b, err
}

// sample returns n of the guilds, drawn at random, or all when they are fewer. It changes their order.
func sample(guilds []id.Guild, n int) []id.Guild {
	if len(guilds) <= n {
		return guilds
	}
	for i := range n {
		other := i + rand.IntN(len(guilds)-i)
		guilds[i], guilds[other] = guilds[other], guilds[i]
	}
	return guilds[:n]
}

func (s *Store) backlogOf(ctx context.Context, guilds []id.Guild) (b snapshot.Backlog, err error) {
	keys := func(k guildKeys) []string { return []string{k.meta(), k.dirty()} }
	err = s.onEach(ctx, backlogScript, guilds, keys, func(_ id.Guild, r reply, err error) error {
		if err != nil {
			return err
		}
		b.Members += r.of("members").number()
		b.Oldest = max(b.Oldest, time.Duration(r.of("age").number())*time.Millisecond)
		return *r.bad
	})
	return b, err
}
