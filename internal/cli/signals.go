package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

var errHurried = errors.New("stopped at once by a second signal; what was not written yet may be lost")

// untilSignal does work, which ends gracefully when its context ends: at the first SIGINT or SIGTERM. At a second one it
// does not wait for work any longer.
func (p *program) untilSignal(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	select {
	case err := <-done:
		return err
	case s := <-signals:
		fmt.Fprintf(p.Stderr, "levelboard: stopping (%s); a second signal stops at once\n", s)
		cancel()
	}
	select {
	case err := <-done:
		return err
	case <-signals:
		return errHurried
	}
}
