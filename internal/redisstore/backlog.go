package redisstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/id"
	"levelboard/internal/snapshot"
)

// backlogPipeline is how many guilds are asked about in one round trip.
const backlogPipeline = 500

// Backlog implements snapshot.Live. It costs the server a few microseconds for each guild that is asked about.
func (s *Store) Backlog(ctx context.Context, more []id.Guild) (b snapshot.Backlog, err error) {
	began := time.Now()
	defer func() {
		if s.observe != nil {
			s.observe(backlogScript.name, time.Since(began), err)
		}
	}()
	indexed, err := s.client.SMembers(ctx, dirtyGuildsKey).Result()
	if err != nil {
		return b, fmt.Errorf("redis: backlog: %w", err)
	}
	for _, g := range more {
		indexed = append(indexed, string(g))
	}
	slices.Sort(indexed)
	for part := range slices.Chunk(slices.Compact(indexed), backlogPipeline) {
		if err := s.addBacklog(ctx, part, &b); err != nil {
			return b, fmt.Errorf("redis: backlog: %w", err)
		}
	}
	return b, nil
}

func (s *Store) addBacklog(ctx context.Context, guilds []string, b *snapshot.Backlog) error {
	asked := make([]*redis.Cmd, len(guilds))
	err := s.client.only.onServer(ctx, func(on *server) error {
		_, err := s.client.only.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, g := range guilds {
				k := keysOf(id.Guild(g))
				asked[i] = p.EvalSha(ctx, on.digests[backlogScript], []string{k.meta(), k.dirty(), k.flushingPrefix()})
			}
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	for _, cmd := range asked {
		values, err := cmd.Slice()
		if err != nil {
			return err
		}
		var members, age int64
		if err := reply(values).numbers(&members, &age); err != nil {
			return err
		}
		b.Members += members
		b.Oldest = max(b.Oldest, time.Duration(age)*time.Millisecond)
	}
	return nil
}
