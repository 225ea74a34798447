package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// serveShare is the part of the time for a stop after which requests that still run are cut off: one slow client must
	// not use up the time of the last snapshot.
	serveShare = 2
	// backgroundShare is the part of what is then left after which background work that has not ended is left behind, for the same reason.
	backgroundShare = 3
	// closeShare is the part of what is then left that is kept for closing the stores, for when the last snapshot hangs.
	closeShare = 8
	// opsTime is how long the operators' listener waits for an answer that is under way; a profile would take it half a minute.
	opsTime = 500 * time.Millisecond
	// useTime is how long the last count of the use of keys may take, of what is kept for closing the stores.
	useTime = time.Second
)

// Stop takes no more requests, finishes those that run, writes what changed to the archive and closes everything, until
// ctx ends at the latest. It returns what could not be done; that a client was too slow to be answered is only logged.
// Calling it again returns the same.
func (a *App) Stop(ctx context.Context) error {
	a.stopOnce.Do(func() { a.stopErr = a.stop(ctx) })
	return a.stopErr
}

// stop leaves the operators' listener for last, so that /readyz says that the service stops, and /metrics how it continues.
func (a *App) stop(ctx context.Context) error {
	a.health.Stops()
	a.stopServing(ctx)
	if a.stopBackground != nil {
		a.stopBackground()
	}
	a.waitForBackground(ctx)
	traces := a.stopTracing(ctx)
	errs := []error{a.lastSnapshot(ctx)}
	if a.hydrator != nil { // not before: what changed in a guild may have to be compared with the archive first
		_ = a.within(ctx, "the loading of guilds", func() error { a.hydrator.Close(); return nil })
	}
	a.lastUse(ctx)
	traces()
	a.stopOps(ctx)
	_ = a.within(ctx, "the listeners", func() error { a.serving.Wait(); return nil })
	for i := len(a.closers) - 1; i >= 0; i-- {
		if err := a.within(ctx, a.closers[i].name, a.closers[i].close); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", a.closers[i].name, err))
		}
	}
	return errors.Join(errs...)
}

// within waits for end until ctx ends. What has not ended by then ends by itself, or with the process: a connection to a
// server that does not answer takes its own time to be closed, and there is nothing in it to be lost.
func (a *App) within(ctx context.Context, what string, end func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		a.log.WarnContext(ctx, "a part of the service did not end in time and is left behind", "what", what)
		return nil
	}
}

// share returns a context that ends after a part of the time that is left.
func share(ctx context.Context, part time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/part)
}

// waitForBackground waits for the background work, such as an import, which has been stopped.
func (a *App) waitForBackground(ctx context.Context) {
	ctx, cancel := share(ctx, backgroundShare)
	defer cancel()
	_ = a.within(ctx, "the background work", func() error { a.background.Wait(); return nil })
}

// stopServing lets requests that run finish for a part of the time that is left, and then cuts them off.
func (a *App) stopServing(ctx context.Context) {
	if a.api == nil {
		return
	}
	a.feed.Close() // or the streams would continue until they are cut off
	a.watching.Close()
	ctx, cancel := share(ctx, serveShare)
	defer cancel()
	if err := a.api.Shutdown(ctx); err != nil {
		a.log.WarnContext(ctx, "requests that did not end in time were cut off; a longer LEVELBOARD_SHUTDOWN_TIMEOUT gives them more", "error", err)
		_ = a.api.Close()
	}
}

func (a *App) stopOps(ctx context.Context) {
	if a.ops == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, opsTime)
	defer cancel()
	if a.ops.Shutdown(ctx) != nil {
		_ = a.ops.Close()
	}
}

// lastSnapshot writes what changed since the one before, and gives up the lease. Its failure is a failure of the stop,
// although Redis still has what changed: whoever stops Redis next has to know.
func (a *App) lastSnapshot(ctx context.Context) error {
	if a.writer == nil {
		return nil
	}
	flushCtx := ctx
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		var cancel context.CancelFunc
		flushCtx, cancel = context.WithTimeout(ctx, left-left/closeShare)
		defer cancel()
	}
	err := a.writer.Flush(flushCtx)
	if releaseErr := a.writer.Release(ctx); releaseErr != nil {
		a.log.WarnContext(ctx, "the snapshot lease could not be released, or other replicas that stop not notified; nothing to do, the lease expires", "error", releaseErr)
	}
	if err == nil {
		return nil
	}
	kept := "what changed since the last one is in Redis, and the next start writes it: do not empty Redis before"
	if a.cfg.Embedded() {
		kept = "what changed since the last one is lost"
	}
	return fmt.Errorf("the last snapshot was not written, %s: %w", kept, err)
}

// lastUse writes down the requests that were counted since the last time. They are for people to look at, so that losing
// them is no failure of the stop.
func (a *App) lastUse(ctx context.Context) {
	if a.meter == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, useTime)
	defer cancel()
	if err := a.meter.Flush(ctx); err != nil {
		a.log.Warn("the last uses of API keys were not recorded; lists of keys lack them", "error", err)
	}
}

// Wait returns when ctx ends (nil) or when a listener of a started service failed by itself (its error). The service goes
// on as far as it can; Stop it either way.
func (a *App) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-a.failed:
		return err
	}
}
