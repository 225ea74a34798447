package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameStop is within what two signals are one stop: timeout(1) sends SIGTERM to the process and to its group, and a parent may pass Ctrl+C on.
const sameStop = 100 * time.Millisecond

var errHurried = errors.New("stopped at once by a second signal; what was not written yet may be lost")

// untilSignal does work, which ends gracefully when its context ends: at the first SIGINT or SIGTERM. At a second one it
// does not wait for work any longer.
func (p *program) untilSignal(ctx context.Context, work func(context.Context) error) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stopped := false
	defer func() {
		if !stopped { // else the second signal of the same stop may come yet, and must not end a process that is about to exit with 0
			signal.Stop(signals)
		}
	}()
	stopping := func(s os.Signal) {
		stopped = true
		p.say(slog.LevelInfo, fmt.Sprintf("stopping (%s); a second signal stops at once", s))
	}
	return untilSignal(ctx, stopping, signals, work)
}

func untilSignal(ctx context.Context, stopping func(os.Signal), signals <-chan os.Signal, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	var first time.Time
	for {
		select {
		case err := <-done:
			return err
		case got := <-signals:
			switch {
			case first.IsZero():
				first = time.Now()
				stopping(got)
				cancel()
			case time.Since(first) >= sameStop:
				return errHurried
			}
		}
	}
}
