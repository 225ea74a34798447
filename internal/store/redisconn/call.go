package redisconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Call is what a script is run with for one guild, and what came of it.
type Call struct {
	Script *Script
	Guild  string   // for Script.Index
	Keys   []string // all in one slot; on a cluster the first decides the node
	Args   []any
	// Own are arguments of this caller alone, after Args. Share makes one run of calls with the same Script, Keys and Args, in
	// which the first of the Own of each call comes first, then the second of each, and so on.
	Own []string

	Reply   []any // of the run, which may have been for other calls as well
	At      int   // the place of this call among them
	Indexed bool  // Guild is in Script.Index
	Err     error // with ErrNotReplicated there is a Reply

	with   []*Call // calls that are made with this one
	asking bool    // the slot is on its way to the node (askingCommand)
	queued         // by Share
}

// run is one EVALSHA, for one call; with Script.Each for one call of each of several guilds.
type run struct {
	script *Script
	calls  []*Call
	cmd    noRetry
}

// noRetry is a command that no go-redis client repeats, whatever its options say. A lost reply does not tell if the script ran,
// so repeating it could apply a change twice.
type noRetry struct{ *redis.Cmd }

// NoRetry is what go-redis asks before it repeats a command.
func (noRetry) NoRetry() bool { return true }

// runGuilds is how many guilds one run is for at most: beyond some ten, more save next to nothing. On a cluster guilds are in
// different slots, and it is 1.
const runGuilds = 16

// runsOf makes runs of calls for different guilds.
func (n *node) runsOf(calls []*Call) (runs []*run) {
	most := runGuilds
	if n.clustered {
		most = 1
	}
	for _, c := range calls {
		i := slices.IndexFunc(runs, func(r *run) bool {
			return r.script == c.Script && c.Script.Each && len(r.calls) < most && len(r.calls[0].Keys) == len(c.Keys)
		})
		if i < 0 {
			i, runs = len(runs), append(runs, &run{script: c.Script})
		}
		runs[i].calls = append(runs[i].calls, c)
	}
	return runs
}

// send makes the calls in one round trip, once the gate lets it in, and gives each its reply or error.
func (n *node) send(ctx context.Context, arrived time.Time, patience time.Duration, calls []*Call) {
	sent := false
	err := n.gate.passSince(ctx, arrived, patience, func(ctx context.Context) error {
		sent = true
		return n.exchange(ctx, n.runsOf(calls))
	})
	if !sent {
		for _, c := range calls {
			c.notSent(err)
		}
	}
}

func fail(calls []*Call, err error) {
	for _, c := range calls {
		c.answer(c.Script.result(nil, err))
	}
}

var errNoScript = errors.New("NOSCRIPT: the server forgets the scripts as they are loaded")

// exchange sends the runs in one pipeline, and again those whose script the server does not know: they did not run.
func (n *node) exchange(ctx context.Context, runs []*run) (err error) {
	var on *server
	for range serverAttempts {
		if on, err = n.server(ctx, on); err != nil {
			break
		}
		if runs, err = n.pipe(ctx, on, runs); err != nil || len(runs) == 0 {
			return err
		}
	}
	if err == nil {
		err = errNoScript
	}
	for _, r := range runs {
		fail(r.calls, err)
	}
	return err
}

// pipe returns the runs whose script the server does not know. All others have their replies or errors then.
func (n *node) pipe(ctx context.Context, on *server, runs []*run) (unknown []*run, err error) {
	pipeline := n.Pipeline()
	var wait *redis.IntCmd
	var guilds []any // and before them the command and the index
	for _, r := range runs {
		r.cmd = r.command(ctx, on.digests[r.script])
		if r.calls[0].asking {
			_ = pipeline.Process(ctx, askingCommand(ctx))
		}
		_ = pipeline.Process(ctx, r.cmd)
		if r.script.Index != "" && !n.clustered {
			if guilds == nil {
				guilds = append(guilds, "zadd", r.script.Index, "nx")
			}
			for _, c := range r.calls {
				guilds = append(guilds, time.Now().UnixMilli(), c.Guild)
			}
		}
		if wait == nil && n.waits(r.script) {
			wait = n.waiting.command(ctx)
		}
	}
	var indexing *redis.IntCmd
	if guilds != nil {
		indexing = redis.NewIntCmd(ctx, guilds...)
		_ = pipeline.Process(ctx, indexing)
	}
	if wait != nil {
		_ = pipeline.Process(ctx, wait)
	}
	_, err = pipeline.Exec(ctx)
	broken := !answered(err)
	for _, r := range runs {
		v, failed := r.cmd.Val(), r.cmd.Err()
		switch {
		case broken && whole(v):
			failed = nil // it was answered before the connection broke; go-redis gives the error to all commands
		case v == nil && failed == nil:
			failed = err // of a server that refuses a new connection while it loads, go-redis tells the pipeline alone
		case !broken && redis.HasErrorPrefix(failed, "NOSCRIPT"):
			unknown = append(unknown, r)
			continue
		}
		for at, c := range r.calls {
			c.Indexed = indexing != nil && indexing.Err() == nil
			reply, err := c.Script.result(r.value(v, failed, at))
			if err == nil && wait != nil {
				if short := n.waiting.enough(wait); short != nil {
					err = fmt.Errorf("redis: %s: %w", c.Script.name, short)
				}
			}
			c.answer(reply, err)
		}
	}
	if broken {
		return nil, err
	}
	return unknown, nil
}

// whole reports whether a value was read to its end: go-redis leaves a nil array of one that was not.
func whole(v any) bool {
	list, isList := v.([]any)
	return v != nil && (!isList || list != nil)
}

// command is the EVALSHA. Texts are in it as pointers, since a string would be copied into memory of its own.
func (r *run) command(ctx context.Context, digest string) noRetry {
	size := 4
	for _, c := range r.calls {
		size += 1 + len(c.Keys) + len(c.Args) + len(c.Own)*(1+len(c.with))
	}
	words := append(make([]any, 0, size), "evalsha", digest, nil)
	for _, c := range r.calls {
		for i := range c.Keys {
			words = append(words, &c.Keys[i])
		}
	}
	words[2] = len(words) - 3
	if !r.script.Each {
		return noRetry{redis.NewCmd(ctx, r.calls[0].appendArgs(words)...)}
	}
	words = append(words, len(r.calls))
	for _, c := range r.calls {
		count := len(words)
		words = c.appendArgs(append(words, nil))
		words[count] = len(words) - count - 1
	}
	return noRetry{redis.NewCmd(ctx, words...)}
}

func (c *Call) appendArgs(words []any) []any {
	words = append(words, c.Args...)
	for i := range c.Own {
		words = append(words, &c.Own[i])
		for _, other := range c.with {
			words = append(words, &other.Own[i])
		}
	}
	return words
}

// value returns what the run returned for one of its guilds.
func (r *run) value(v any, err error, at int) (any, error) {
	if err != nil || !r.script.Each {
		return v, err
	}
	list, _ := v.([]any)
	if len(list) != len(r.calls) {
		return nil, errReply
	}
	switch v := list[at].(type) {
	case error:
		return nil, v
	case string:
		if text, failed := strings.CutPrefix(v, "-"); failed {
			return nil, guildError(text)
		}
	}
	return list[at], nil
}

// guildError is the server's error about one guild of a run for several; each.lua makes it a string. It is a redis.Error.
type guildError string

func (e guildError) Error() string { return string(e) }

// RedisError implements redis.Error.
func (guildError) RedisError() {}

// answer gives the call, and those that were made with it, the reply or the error.
func (c *Call) answer(reply []any, err error) {
	c.Reply, c.Err, c.At = reply, err, 0
	for i, other := range c.with {
		other.Reply, other.Err, other.At, other.Indexed = reply, err, i+1, c.Indexed
	}
}
