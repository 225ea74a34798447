package redisstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/id"
)

// eachPipeline is how many guilds are asked about in one round trip.
const eachPipeline = 500

// eachCall is one run of a script, on the keys of one guild.
type eachCall struct {
	keys []string
	args []any
	v    any
	err  error // of this run; when its node could not be asked, that
}

// runEach runs a script for each call, each in a step of its own and those of a node in one round trip. No two calls have the
// same first key. It is for scripts that do no harm when they run twice.
func (s *Store) runEach(ctx context.Context, sc *script, calls []*eachCall) {
	byKey := make(map[string]*eachCall, len(calls))
	first := make([]string, len(calls))
	for i, c := range calls {
		first[i] = c.keys[0]
		byKey[c.keys[0]] = c
	}
	nodes, err := s.client.byNode(ctx, first)
	if err != nil {
		for _, c := range calls {
			c.err = err
		}
		return
	}
	var asked sync.WaitGroup
	for n, keys := range nodes {
		part := make([]*eachCall, len(keys))
		for i, key := range keys {
			part[i] = byKey[key]
		}
		asked.Go(func() { s.client.runPart(ctx, n, sc, part) })
	}
	asked.Wait()
	for _, c := range calls {
		if !nothingRan(c.err) {
			continue
		}
		// Its slot has moved.
		if c.v, c.err = s.eval(ctx, sc, c.keys, c.args); nothingRan(c.err) {
			return // that took all patience; the others would wait for as long
		}
	}
}

// runPart runs a script on one node, in one round trip.
func (c *Client) runPart(ctx context.Context, n *node, sc *script, part []*eachCall) {
	cmds, err := make([]*redis.Cmd, len(part)), errNoMaster
	if n != nil {
		err = n.onServer(ctx, func(on *server) error {
			_, err := n.Pipelined(ctx, func(p redis.Pipeliner) error {
				for i, c := range part {
					cmds[i] = p.EvalSha(ctx, on.digests[sc], c.keys, c.args...)
				}
				return nil
			})
			return err
		})
	}
	if c.cluster != nil && !answered(err) && ctx.Err() == nil {
		c.cluster.reloadSoon(c.cluster.table.Load())
	}
	for i, call := range part {
		if cmds[i] == nil {
			call.err = err
			continue
		}
		call.v, call.err = cmds[i].Result()
	}
}

// onEach runs a script for each guild, each in a step of its own and many in a round trip, and calls take with what came back,
// which may be an error of that one script. It ends with the first error of take, or when a server cannot be asked. It is for
// scripts that do no harm when they run twice.
func (s *Store) onEach(ctx context.Context, sc *script, guilds []id.Guild, keys func(guildKeys) []string, take func(id.Guild, reply, error) error, args ...any) error {
	for part := range slices.Chunk(guilds, eachPipeline) {
		calls := make([]*eachCall, len(part))
		for i, g := range part {
			calls[i] = &eachCall{keys: keys(keysOf(g)), args: args}
		}
		s.runEach(ctx, sc, calls)
		for i, c := range calls {
			err := c.err
			if answered(err) {
				values, _ := c.v.([]any)
				err = take(part[i], values, err)
			}
			if err != nil {
				return fmt.Errorf("redis: %s: %w", sc.name, err)
			}
		}
	}
	return nil
}

// observed tells of a call that began then; for defer.
func (s *Store) observed(sc *script, began time.Time, err *error) {
	if s.observe != nil {
		s.observe(sc.name, time.Since(began), *err)
	}
}
