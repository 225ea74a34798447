package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// serveShare divides the time for a stop. After this part, running requests are
	// cut off, so that one slow client does not use up the time of the last snapshot.
	serveShare = 2
	// backgroundShare divides the remaining time. After this part, the stop no longer waits for background work, for the same reason.
	backgroundShare = 3
	// closeShare divides the time that is left then. This part is reserved for closing the stores, in case the last snapshot hangs.
	closeShare = 8
	// opsTime is how long the ops listener waits for its running requests. A profile would take half a minute.
	opsTime = 500 * time.Millisecond
	// useTime bounds the last write of key usage. It is within the time reserved for closing the stores.
	useTime = time.Second
)

// Stop accepts no more requests, finishes the running ones, writes changes to the archive and closes everything, until ctx ends at the
// latest. It joins the errors of the steps that failed. A client too slow to get its answer is only logged. A second call returns the same.
func (a *App) Stop(ctx context.Context) error {
	a.stopOnce.Do(func() { a.stopErr = a.stop(ctx) })
	return a.stopErr
}

// stop closes the ops listener last, so that /readyz and /metrics show the progress of the stop.
func (a *App) stop(ctx context.Context) error {
	a.health.Stops()
	a.stopServing(ctx)
	if a.stopBackground != nil {
		a.stopBackground()
	}
	a.waitForBackground(ctx)
	traces := a.stopTracing(ctx)
	errs := []error{a.lastSnapshot(ctx)}
	if a.hydrator != nil { // after the snapshot, which may need the hydrator to compare a guild with the archive
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

// within waits for end until ctx ends. Then end runs on in the background until it returns or
// the process exits: closing a connection to a silent server may take long, and loses nothing.
func (a *App) within(ctx context.Context, what string, end func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		a.log.WarnContext(ctx, "a part of the service did not end in time; the stop continues without it", "what", what)
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

// waitForBackground waits until the background work, such as an import, has ended. Its context was cancelled before.
func (a *App) waitForBackground(ctx context.Context) {
	ctx, cancel := share(ctx, backgroundShare)
	defer cancel()
	_ = a.within(ctx, "the background work", func() error { a.background.Wait(); return nil })
}

// stopServing lets running requests finish within a part of the remaining time, and then cuts them off.
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

// lastSnapshot writes the changes since the last snapshot and releases the lease. If it fails, the stop
// fails: the changes are then only in Redis, and the operator must know that before stopping Redis too.
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
		a.log.WarnContext(ctx, "the snapshot lease could not be released, or other stopping replicas could not be notified; nothing to do, the lease expires", "error", releaseErr)
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

// lastUse writes the request counts since the last write. They are only statistics for people, so losing them does not fail the stop.
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

// Wait returns nil when ctx ends, or the error of a listener that failed. After
// a failure the service continues as far as it can. Call Stop in both cases.
func (a *App) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-a.failed:
		return err
	}
}
