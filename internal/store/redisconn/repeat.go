package redisconn

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/pause"
)

const (
	// redirects is how many redirections in a row are followed without a pause.
	redirects = 3
	// leastPause and longestPause bound the pause between two attempts at a slot that cannot be served at the moment.
	leastPause   = 5 * time.Millisecond
	longestPause = 80 * time.Millisecond
	// leastPatience is the patience with the next node when hardly any is left.
	leastPatience = 50 * time.Millisecond
)

// direction is a cluster's advice to ask another node, or to wait. Except for `here`, nothing ran.
type direction int

const (
	here  direction = iota // the answer is the command's own, or there is none
	moved                  // the slot is another node's
	asked                  // the keys are on another node already, which answers only after ASKING
	later                  // the slot is being moved, no node serves it, or go-redis has closed the client of a node that left
)

// directionOf reads an error; address is that of the node in the error.
func directionOf(err error) (d direction, address string) {
	if err == nil {
		return here, ""
	}
	if address, ok := redis.IsMovedError(err); ok {
		return moved, address
	}
	if address, ok := redis.IsAskError(err); ok {
		return asked, address
	}
	if redis.IsTryAgainError(err) || redis.IsClusterDownError(err) || redis.IsLoadingError(err) ||
		redis.IsReadOnlyError(err) || redis.IsMasterDownError(err) || errors.Is(err, redis.ErrClosed) {
		return later, ""
	}
	return here, ""
}

// nothingRan reports whether an error of a cluster says that the command did not run.
func nothingRan(err error) bool {
	where, _ := directionOf(err)
	return where != here
}

// Unanswered reports whether an error means that the command has no answer: its node did not respond, or the cluster said that nothing ran.
func Unanswered(err error) bool { return !answered(err) || nothingRan(err) }

// repeat calls send, and again while the cluster says that nothing ran and the caller has patience: at once when the error named another
// node, else after a pause. A command whose connection failed may have run, so it is not repeated.
func (c *cluster) repeat(ctx context.Context, send func(context.Context) error) error {
	until, wait := time.Now().Add(c.patience(ctx)), leastPause
	for hops := 1; ; hops++ {
		err := send(ctx)
		where, _ := directionOf(err)
		if where == here {
			c.heard(ctx, err)
			return err
		}
		if where != asked {
			c.ReloadState(ctx)
		}
		if where == later || hops > redirects {
			if time.Now().Add(wait).After(until) || !pause.For(ctx, wait) {
				return err
			}
			wait = min(2*wait, longestPause)
		}
		ctx = pause.WithPatience(ctx, max(time.Until(until), leastPatience))
	}
}

// follow repeats send with the master of the key, and then with the node that the last answer named.
func (c *cluster) follow(ctx context.Context, key string, send func(ctx context.Context, n *node, asking bool) error) error {
	var n *node
	asking := false
	return c.repeat(ctx, func(ctx context.Context) (err error) {
		if n == nil {
			if n, err = c.masterOf(ctx, key); err != nil {
				return err
			}
		}
		err = send(ctx, n, asking)
		where, address := directionOf(err)
		if where == moved {
			n.doubt() // a demoted master may hold another's data when it is a master again
		}
		if asking, n = where == asked, nil; address != "" {
			n = c.node(address, false)
		}
		return err
	})
}

// askingCommand lets the next command touch a slot that is still being moved to the node.
func askingCommand(ctx context.Context) redis.Cmder { return redis.NewStatusCmd(ctx, "asking") }

// noRetries is a hook of every client that makes go-redis send each command once. After a lost reply the command may have run, so a retry could
// apply a change twice. go-redis still follows MOVED and ASK, which say that nothing ran.
type noRetries struct{ plainHook }

// noRetry marks a command that go-redis must not repeat.
type noRetry struct{ redis.Cmder }

// NoRetry tells go-redis not to repeat a command.
func (noRetry) NoRetry() bool { return true }

// ProcessHook is for single commands.
func (noRetries) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return next(ctx, noRetry{cmd}) }
}

// ProcessPipelineHook is for commands that are sent together. If one is marked, go-redis repeats none of them. In a transaction go-redis expects
// its own MULTI and EXEC, so another command is marked.
func (noRetries) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		marked := make([]redis.Cmder, len(cmds))
		for i, cmd := range cmds {
			if marked[i] = cmd; cmd.Name() != "multi" && cmd.Name() != "exec" {
				marked[i] = noRetry{cmd}
			}
		}
		return next(ctx, marked)
	}
}

// repeating is a hook of a cluster's client that repeats a command after an answer that it did not run.
type repeating struct {
	plainHook
	*cluster
}

// ProcessHook is for single commands.
func (r repeating) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return r.repeat(ctx, func(ctx context.Context) error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook repeats commands of a pipeline one by one, in no order.
func (r repeating) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		r.heard(ctx, next(ctx, cmds))
		var first error
		for _, cmd := range cmds {
			if nothingRan(cmd.Err()) {
				cmd.SetErr(r.Process(ctx, cmd))
			}
			first = cmp.Or(first, cmd.Err())
		}
		return first
	}
}
