package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameSignal is how long after the first signal another one still counts as the same: timeout(1) and shells that signal a
// process and then its whole group send each signal twice, and nobody's data may be lost by that.
const sameSignal = 500 * time.Millisecond

var errHurried = errors.New("stopped at once by a second signal; what was not written yet may be lost")

// untilSignal does work, which ends gracefully when its context ends: at the first SIGINT or SIGTERM. At a second one it
// does not wait for work any longer.
func (p *program) untilSignal(ctx context.Context, work func(context.Context) error) error {
	return untilSignal(ctx, p.Stderr, sameSignal, work)
}

func untilSignal(ctx context.Context, w io.Writer, same time.Duration, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	var first time.Time
	for {
		select {
		case err := <-done:
			return err
		case s := <-signals:
			switch {
			case first.IsZero():
				first = time.Now()
				fmt.Fprintf(w, "levelboard: stopping (%s); a second signal stops at once\n", s)
				cancel()
			case time.Since(first) >= same:
				return errHurried
			}
		}
	}
}
