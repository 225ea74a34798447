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

// Signals within sameStop are one stop: timeout(1) sends SIGTERM to the process and to its group, and a parent may also pass Ctrl+C on.
const sameStop = 100 * time.Millisecond

var errHurried = errors.New("stopped at once by a second signal; what was not written yet may be lost")

// untilSignal calls work. The first SIGINT or SIGTERM ends its context, so that it ends gracefully. After a second one it does not wait for work.
func (p *program) untilSignal(ctx context.Context, work func(context.Context) error) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stopped := false
	err := untilSignal(ctx, signals, work, func(s os.Signal) {
		stopped = true
		p.say(slog.LevelInfo, fmt.Sprintf("stopping (%s); a second signal stops at once", s))
	})
	if !stopped { // after a stop, keep catching signals: a late one of the same stop must not kill the process before it exits with 0
		signal.Stop(signals)
	} else if err == nil {
		p.say(slog.LevelInfo, "stopped")
	}
	return err
}

func untilSignal(ctx context.Context, signals <-chan os.Signal, work func(context.Context) error, stopping func(os.Signal)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	select {
	case err := <-done:
		return err
	case first := <-signals:
		stopping(first)
		cancel()
	}
	for stopped := time.Now(); ; {
		select {
		case err := <-done:
			return err
		case <-signals:
			if time.Since(stopped) >= sameStop {
				return errHurried
			}
		}
	}
}
