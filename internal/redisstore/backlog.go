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
	metas := make([]string, len(guilds))
	for i, g := range guilds {
		metas[i] = keysOf(id.Guild(g)).meta()
	}
	parts, err := s.client.byNode(ctx, metas)
	if err != nil {
		return err
	}
	for n, metas := range parts {
		asked, err := s.askBacklog(ctx, n, metas)
		if err != nil && !nothingRan(err) {
			return err
		}
		for i, cmd := range asked {
			v, err := cmd.Result()
			if nothingRan(err) {
				g, _ := guildOfMeta(metas[i])
				v, err = s.eval(ctx, backlogScript, backlogKeys(g), nil)
			}
			if err != nil {
				return err
			}
			values, _ := v.([]any)
			var members, age int64
			if err := reply(values).numbers(&members, &age); err != nil {
				return err
			}
			b.Members += members
			b.Oldest = max(b.Oldest, time.Duration(age)*time.Millisecond)
		}
	}
	return nil
}

// askBacklog asks one node about its guilds, in one round trip.
func (s *Store) askBacklog(ctx context.Context, n *node, metas []string) ([]*redis.Cmd, error) {
	asked := make([]*redis.Cmd, len(metas))
	err := n.onServer(ctx, func(on *server) error {
		_, err := n.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, meta := range metas {
				g, _ := guildOfMeta(meta)
				asked[i] = p.EvalSha(ctx, on.digests[backlogScript], backlogKeys(g))
			}
			return nil
		})
		return err
	})
	return asked, err
}

func backlogKeys(g id.Guild) []string {
	k := keysOf(g)
	return []string{k.meta(), k.dirty(), k.flushingPrefix()}
}
