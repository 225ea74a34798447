package redisstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
)

// eachPipeline is how many guilds are asked about in one round trip.
const eachPipeline = 500

// guildsAtOnce is how many guilds one run of a script is for at most: from some ten on, more save next to nothing.
const guildsAtOnce = 16

// guildsOfRun is guildsAtOnce, but on a cluster, where guilds are in different slots, 1.
func guildsOfRun(clustered bool) int {
	if clustered {
		return 1
	}
	return guildsAtOnce
}

// guildRun is what a script takes for one guild.
type guildRun struct {
	keys []string
	args []any
}

// together is what a script takes that is run for several guilds. On a cluster it can be only one.
func together(runs []guildRun) (keys []string, args []any) {
	size := 1
	for _, r := range runs {
		size += 1 + len(r.args)
	}
	keys, args = make([]string, 0, len(runs)*len(runs[0].keys)), make([]any, 0, size)
	for _, r := range runs {
		keys = append(keys, r.keys...)
	}
	return keys, appendEach(args, len(runs), func(args []any, i int) []any { return append(args, runs[i].args...) })
}

// appendEach appends the arguments of a script that is run for several guilds, as each.lua reads them; those of the guild at i are what
// appendOf appends.
func appendEach(words []any, guilds int, appendOf func(words []any, i int) []any) []any {
	words = append(words, guilds)
	for i := range guilds {
		count := len(words)
		words = appendOf(append(words, nil), i)
		words[count] = len(words) - count - 1
	}
	return words
}

// eachValue is what a run for several guilds answered about one of them, an error among others.
func eachValue(v any, err error, i, n int) (any, error) {
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	if len(list) != n {
		return nil, errReply
	}
	switch v := list[i].(type) {
	case error:
		return nil, v
	case string:
		if text, failed := strings.CutPrefix(v, "-"); failed {
			return nil, guildError(text)
		}
	}
	return list[i], nil
}

// guildError is the server's error about one guild of a run for several, of which each.lua makes a string. It is a redis.Error.
type guildError string

func (e guildError) Error() string { return string(e) }

// RedisError says what it is.
func (guildError) RedisError() {}

// eachCall is one guild's part in a run of a script.
type eachCall struct {
	guildRun
	v   any
	err error // of this guild; when its node could not be asked, that
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

// runEach runs a script for each call, some of a node in one step and all of a node in one round trip. No two calls have the
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
		keys, args := together([]guildRun{c.guildRun})
		v, err := s.eval(ctx, sc, keys, args)
		if c.v, c.err = eachValue(v, err, 0, 1); !answered(c.err) || nothingRan(c.err) {
			return // that took all patience; the others would wait for as long
		}
	}
}

// runPart runs a script on one node, in one round trip.
func (c *Client) runPart(ctx context.Context, sc *script, part *eachPart) {
	packs := slices.Collect(slices.Chunk(part.calls, guildsOfRun(c.cluster != nil)))
	cmds := make([]*redis.Cmd, len(packs))
	switch {
	case part.err != nil:
	case part.on == nil:
		part.err = errNoMaster
	default:
		err := part.on.onServer(ctx, func(on *server) error {
			_, err := part.on.Pipelined(ctx, func(p redis.Pipeliner) error {
				for i, pack := range packs {
					runs := make([]guildRun, len(pack))
					for j, call := range pack {
						runs[j] = call.guildRun
					}
					keys, args := together(runs)
					cmds[i] = evalSHA(ctx, on.digests[sc], keys, args).Cmd
					_ = p.Process(ctx, cmds[i])
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
	for i, pack := range packs {
		for j, call := range pack {
			if cmds[i] == nil {
				call.err = part.err
				continue
			}
			call.v, call.err = eachValue(cmds[i].Val(), cmds[i].Err(), j, len(pack))
		}
	}
}

// onEach runs a script for each guild, many in a round trip, and calls take with what came back, which may be an error of
// that guild. The first error of take ends it. On a cluster the guilds of a node that cannot be
// asked are passed over, and the error is returned once the other nodes were asked. It is for scripts that do no harm when they
// run twice.
func (s *Store) onEach(ctx context.Context, sc *script, guilds []id.Guild, keys func(guildKeys) []string, take func(id.Guild, reply, error) error, args ...any) error {
	silent, unasked := silentNodes{}, distinctErrors{}
	for part := range slices.Chunk(guilds, eachPipeline) {
		calls := make([]*eachCall, len(part))
		for i, g := range part {
			calls[i] = &eachCall{guildRun: guildRun{keys(keysOf(g)), args}}
		}
		if err := s.runEach(ctx, sc, calls, silent); err != nil {
			return err
		}
		for i, c := range calls {
			if !answered(c.err) || nothingRan(c.err) {
				unasked.add(c.err)
				continue
			}
			values, _ := c.v.([]any)
			if err := take(part[i], values, c.err); err != nil {
				return fmt.Errorf("redis: %s: %w", sc.name, err)
			}
		}
	}
	if err := unasked.join(); err != nil {
		return fmt.Errorf("redis: %s: %w", sc.name, err)
	}
	return nil
}

// distinctErrors are the errors of many guilds, of which those of one server have the same.
type distinctErrors map[string]error

func (d distinctErrors) add(err error) { d[err.Error()] = err }

// join is nil when there are none.
func (d distinctErrors) join() error { return errors.Join(slices.Collect(maps.Values(d))...) }

// observed tells of a call that began then; for defer.
func (s *Store) observed(sc *script, began time.Time, err *error) {
	if s.observe != nil {
		s.observe(sc.name, time.Since(began), *err)
	}
}
