package redisconn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/pause"
)

// errSilent means that a command was not sent, because the server had been silent for too long.
var errSilent = errors.New("the server does not answer")

// gate admits every command of a client, also those of rate limits. It admits as many as there are connections. The others wait in the order of
// their arrival, and give up when the server falls silent. The pool's own queue cannot tell a busy server from a silent one: with a busy server it
// fails the last of a long queue, and with a silent one it lets each caller wait for all failures before.
type gate struct {
	plainHook
	places  chan struct{} // one element for each admitted command
	silence time.Duration // the patience of a context without one
	heard   atomic.Int64  // when the server last answered anything; nanoseconds since began
	began   time.Time
}

func newGate(places int, silence time.Duration) *gate {
	return &gate{places: make(chan struct{}, places), silence: silence, began: time.Now()}
}

// insideKey marks the context of an admitted command. The first commands of a new connection run inside it and pass without waiting.
type insideKey struct{}

// pass admits send and runs it, with a context that ends when the patience with a silent server does.
func (g *gate) pass(ctx context.Context, send func(context.Context) error) error {
	if ctx.Value(insideKey{}) != nil {
		return g.listen(send(ctx))
	}
	return g.passSince(ctx, time.Now(), g.patience(ctx), send)
}

// patience returns the context's patience, or the client's own.
func (g *gate) patience(ctx context.Context) time.Duration {
	return cmp.Or(pause.Patience(ctx), g.silence)
}

// passSince is pass for a caller that has waited since arrived.
func (g *gate) passSince(ctx context.Context, arrived time.Time, patience time.Duration, send func(context.Context) error) error {
	if err := g.enter(ctx, arrived, patience); err != nil {
		return err
	}
	defer func() { <-g.places }()
	until := g.patientUntil(arrived, patience)
	if time.Until(until) <= 0 {
		return errSilent // not a timeout, after which the command may have been sent
	}
	ctx, cancel := context.WithDeadline(context.WithValue(ctx, insideKey{}, true), until)
	defer cancel()
	return g.listen(send(ctx))
}

func (g *gate) enter(ctx context.Context, arrived time.Time, patience time.Duration) error {
	select {
	case g.places <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case g.places <- struct{}{}:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("wait for a connection: %w", ctx.Err())
		case <-timer.C:
			left := time.Until(g.patientUntil(arrived, patience))
			if left <= 0 {
				return errSilent
			}
			timer.Reset(left)
		}
	}
}

// patientUntil returns when the patience ends. It counts from the command's arrival or the server's last answer, whichever is later.
func (g *gate) patientUntil(arrived time.Time, patience time.Duration) time.Time {
	if heard := g.lastHeard(); heard.After(arrived) {
		arrived = heard
	}
	return arrived.Add(patience)
}

func (g *gate) lastHeard() time.Time { return g.began.Add(time.Duration(g.heard.Load())) }

// listen notes that the server has answered, even with an error.
func (g *gate) listen(err error) error {
	if answered(err) {
		g.heard.Store(int64(time.Since(g.began)))
	}
	return err
}

// answered reports whether the server answered; an answer may be an error.
func answered(err error) bool {
	_, said := errors.AsType[redis.Error](err)
	return err == nil || said
}

// ProcessHook is for single commands.
func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return g.pass(ctx, func(ctx context.Context) error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook is for commands that are sent together.
func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return g.pass(ctx, func(ctx context.Context) error { return next(ctx, cmds) })
	}
}

// plainHook is a hook of go-redis that changes nothing; other hooks embed it.
type plainHook struct{}

// DialHook implements redis.Hook.
func (plainHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (plainHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook implements redis.Hook.
func (plainHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
