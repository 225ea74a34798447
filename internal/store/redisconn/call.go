package redisconn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Call is one run of a script for one guild, with its result.
type Call struct {
	Script *Script
	Keys   []string // all in one slot; on a cluster the first decides the node
	Args   []any

	Reply []any
	Err   error // ErrNotReplicated comes with a Reply

	cmd    *redis.Cmd
	asking bool // the slot is on its way to the node (askingCommand)
	queued      // by Share
}

// send makes the calls in one round trip, once the gate lets it in, and gives each its reply or error.
func (n *node) send(ctx context.Context, arrived time.Time, patience time.Duration, calls []*Call) {
	sent := false
	err := n.gate.passSince(ctx, arrived, patience, func(ctx context.Context) error {
		sent = true
		return n.exchange(ctx, calls)
	})
	if !sent {
		for _, c := range calls {
			c.notSent(err)
		}
	}
}

func fail(calls []*Call, err error) {
	for _, c := range calls {
		c.answer(nil, err)
	}
}

var errNoScript = errors.New("NOSCRIPT: the server forgets the scripts as they are loaded")

// exchange sends the calls in one pipeline. It sends those again whose script the server does not know, since they did not run.
func (n *node) exchange(ctx context.Context, calls []*Call) (err error) {
	var on *server
	for range serverAttempts {
		if on, err = n.server(ctx, on); err != nil {
			break
		}
		if calls, err = n.pipe(ctx, on, calls); err != nil || len(calls) == 0 {
			return err
		}
	}
	if err == nil {
		err = errNoScript
	}
	fail(calls, err)
	return err
}

// pipe sends the calls and returns those whose script the server does not know. All others have their reply or error.
func (n *node) pipe(ctx context.Context, on *server, calls []*Call) (unknown []*Call, err error) {
	pipeline := n.Pipeline()
	var wait *redis.IntCmd
	for _, c := range calls {
		c.cmd = c.command(ctx, on.digests[c.Script])
		if c.asking {
			_ = pipeline.Process(ctx, askingCommand(ctx))
		}
		_ = pipeline.Process(ctx, c.cmd)
		if wait == nil && n.waits(c.Script) {
			wait = n.waiting.command(ctx)
		}
	}
	if wait != nil {
		_ = pipeline.Process(ctx, wait)
	}
	_, err = pipeline.Exec(ctx)
	broken := !answered(err)
	for _, c := range calls {
		v, failed := c.cmd.Val(), c.cmd.Err()
		switch {
		case broken && whole(v):
			failed = nil // it was answered before the connection broke; go-redis gives the error to all commands
		case v == nil && failed == nil:
			failed = err // of a server that refuses a new connection while it loads, go-redis tells the pipeline alone
		case !broken && redis.HasErrorPrefix(failed, "NOSCRIPT"):
			unknown = append(unknown, c)
			continue
		}
		c.answer(v, failed)
		if c.Err == nil && wait != nil {
			if short := n.waiting.enough(wait); short != nil {
				c.Err = fmt.Errorf("redis: %s: %w", c.Script.name, short)
			}
		}
	}
	if broken {
		return nil, err
	}
	return unknown, nil
}

// whole reports whether v was read completely. go-redis returns a nil slice for a truncated array.
func whole(v any) bool {
	list, isList := v.([]any)
	return v != nil && (!isList || list != nil)
}

// command returns the EVALSHA of the call. It passes keys as pointers, which saves an allocation for each.
func (c *Call) command(ctx context.Context, digest string) *redis.Cmd {
	words := append(make([]any, 0, 3+len(c.Keys)+len(c.Args)), "evalsha", digest, len(c.Keys))
	for i := range c.Keys {
		words = append(words, &c.Keys[i])
	}
	return redis.NewCmd(ctx, append(words, c.Args...)...)
}

// answer sets the result of a run of the script.
func (c *Call) answer(v any, err error) { c.Reply, c.Err = c.Script.result(v, err) }
