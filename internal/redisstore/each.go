package redisstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/id"
)

// eachPipeline is how many guilds are asked about in one round trip.
const eachPipeline = 500

// onEach runs a script for each guild, each in a step of its own and many in a round trip, and calls take with what came back,
// which may be an error of that one script. The first error of take ends it. On a cluster the guilds of a node that cannot be
// asked are passed over, and the error is returned once the other nodes were asked. It is for scripts that do no harm when they
// run twice.
func (s *Store) onEach(ctx context.Context, sc *script, guilds []id.Guild, keys func(guildKeys) []string, take func(id.Guild, reply, error) error, args ...any) error {
	silent := map[*node]error{}
	for part := range slices.Chunk(guilds, eachPipeline) {
		metas := make([]string, len(part))
		for i, g := range part {
			metas[i] = keysOf(g).meta()
		}
		nodes, err := s.client.byNode(ctx, metas)
		if err != nil {
			return err
		}
		for n, metas := range nodes {
			if silent[n] != nil {
				continue
			}
			if n == nil {
				silent[n] = errNoMaster
				continue
			}
			asked, err := n.askEach(ctx, sc, metas, keys, args)
			for i, cmd := range asked {
				g, _ := guildOfMeta(metas[i])
				v, err := cmd.Result()
				if nothingRan(err) { // its slot has moved
					v, err = s.eval(ctx, sc, keys(keysOf(g)), args)
				}
				if err != nil && !answered(err) {
					silent[n] = err
					break
				}
				values, _ := v.([]any)
				if err := take(g, values, err); err != nil {
					return fmt.Errorf("redis: %s: %w", sc.name, err)
				}
			}
			if err != nil {
				silent[n] = err
			}
		}
	}
	if err := errors.Join(slices.Collect(maps.Values(silent))...); err != nil {
		return fmt.Errorf("redis: %s: %w", sc.name, err)
	}
	return nil
}

// askEach asks one node about its guilds, in one round trip. It fails when the node cannot be asked; each answer has an error of
// its own.
func (n *node) askEach(ctx context.Context, sc *script, metas []string, keys func(guildKeys) []string, args []any) ([]*redis.Cmd, error) {
	asked := make([]*redis.Cmd, len(metas))
	err := n.onServer(ctx, func(on *server) error {
		_, err := n.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, meta := range metas {
				g, _ := guildOfMeta(meta)
				asked[i] = p.EvalSha(ctx, on.digests[sc], keys(keysOf(g)), args...)
			}
			return nil
		})
		return err
	})
	if asked[len(asked)-1] == nil || !answered(err) {
		return nil, err
	}
	return asked, nil
}

// observed tells of a call that began then; for defer.
func (s *Store) observed(sc *script, began time.Time, err *error) {
	if s.observe != nil {
		s.observe(sc.name, time.Since(began), *err)
	}
}
