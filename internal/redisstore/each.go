package redisstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// silentNodes are those that could not be asked, and why; nil stands for slots that nobody serves. They are not asked again,
// since each attempt takes all patience.
type silentNodes map[*node]error

// eachPart are the calls for one node.
type eachPart struct {
	on    *node
	calls []*eachCall
	err   error // when the node could not be asked
}

// runEach runs a script for each call, each in a step of its own and those of a node in one round trip. No two calls have the
// same first key. It is for scripts that do no harm when they run twice. With an error no node could be asked, and that is the
// error of all calls.
func (s *Store) runEach(ctx context.Context, sc *script, calls []*eachCall, silent silentNodes) error {
	if len(calls) == 0 {
		return nil
	}
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
		return err
	}
	var parts []*eachPart
	var asked sync.WaitGroup
	for n, keys := range nodes {
		part := &eachPart{on: n, err: silent[n]}
		parts = append(parts, part)
		for _, key := range keys {
			part.calls = append(part.calls, byKey[key])
		}
		asked.Go(func() { s.client.runPart(ctx, sc, part) })
	}
	asked.Wait()
	for _, part := range parts {
		if part.err != nil {
			silent[part.on] = part.err
		}
	}
	s.followMoved(ctx, sc, calls)
	return nil
}

// followMoved runs what was not run because its slot has moved.
func (s *Store) followMoved(ctx context.Context, sc *script, calls []*eachCall) {
	for _, c := range calls {
		if !answered(c.err) || !nothingRan(c.err) {
			continue
		}
		if c.v, c.err = s.eval(ctx, sc, c.keys, c.args); !answered(c.err) || nothingRan(c.err) {
			return // that took all patience; the others would wait for as long
		}
	}
}

// runPart runs a script on one node, in one round trip.
func (c *Client) runPart(ctx context.Context, sc *script, part *eachPart) {
	cmds := make([]*redis.Cmd, len(part.calls))
	switch {
	case part.err != nil:
	case part.on == nil:
		part.err = errNoMaster
	default:
		err := part.on.onServer(ctx, func(on *server) error {
			_, err := part.on.Pipelined(ctx, func(p redis.Pipeliner) error {
				for i, call := range part.calls {
					cmds[i] = p.EvalSha(ctx, on.digests[sc], call.keys, call.args...)
				}
				return nil
			})
			return err
		})
		if !answered(err) || slices.Contains(cmds, nil) {
			part.err = err
		}
	}
	if c.cluster != nil {
		c.cluster.heard(ctx, part.err)
	}
	for i, call := range part.calls {
		if cmds[i] == nil {
			call.err = part.err
			continue
		}
		call.v, call.err = cmds[i].Result()
	}
}

// onEach runs a script for each guild, each in a step of its own and many in a round trip, and calls take with what came back,
// which may be an error of that one script. The first error of take ends it. On a cluster the guilds of a node that cannot be
// asked are passed over, and the error is returned once the other nodes were asked. It is for scripts that do no harm when they
// run twice.
func (s *Store) onEach(ctx context.Context, sc *script, guilds []id.Guild, keys func(guildKeys) []string, take func(id.Guild, reply, error) error, args ...any) error {
	silent, unasked := silentNodes{}, map[string]error{}
	for part := range slices.Chunk(guilds, eachPipeline) {
		calls := make([]*eachCall, len(part))
		for i, g := range part {
			calls[i] = &eachCall{keys: keys(keysOf(g)), args: args}
		}
		if err := s.runEach(ctx, sc, calls, silent); err != nil {
			return err
		}
		for i, c := range calls {
			if !answered(c.err) || nothingRan(c.err) {
				unasked[c.err.Error()] = c.err
				continue
			}
			values, _ := c.v.([]any)
			if err := take(part[i], values, c.err); err != nil {
				return fmt.Errorf("redis: %s: %w", sc.name, err)
			}
		}
	}
	if err := errors.Join(slices.Collect(maps.Values(unasked))...); err != nil {
		return fmt.Errorf("redis: %s: %w", sc.name, err)
	}
	return nil
}

// observed tells of a call that began then; for defer.
func (s *Store) observed(sc *script, began time.Time, err *error) {
	if s.observe != nil {
		s.observe(sc.name, time.Since(began), *err)
	}
}
