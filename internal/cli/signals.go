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

// One stop often arrives as two signals. Two cases differ from somebody in a hurry:
//   - timeout(1) sends SIGTERM to the process and to its group, each followed by SIGCONT: a second SIGTERM with a SIGCONT is the first again.
//   - Ctrl+C reaches a terminal's whole group, and a parent may pass it on: two SIGINT within sameTyping are one.
const (
	sameTerm   = 500 * time.Millisecond // between two SIGTERM of one timeout(1), on a busy machine
	awaitCont  = 250 * time.Millisecond // between the second SIGTERM and its SIGCONT, when timeout(1) has to wait for the processor
	sameTyping = 100 * time.Millisecond // between two SIGINT of one Ctrl+C
)

var errHurried = errors.New("stopped at once by a second signal; what was not written yet may be lost")

// untilSignal does work, which ends gracefully when its context ends: at the first SIGINT or SIGTERM. At a second one it
// does not wait for work any longer.
func (p *program) untilSignal(ctx context.Context, work func(context.Context) error) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, append([]os.Signal{os.Interrupt, syscall.SIGTERM}, woken...)...)
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
	var s stopSignals
	for {
		select {
		case err := <-done:
			return err
		case <-s.doubt:
			return errHurried
		case got := <-signals:
			switch s.next(got, time.Now()) {
			case stopGracefully:
				stopping(got)
				cancel()
			case stopAtOnce:
				return errHurried
			case goOn:
			}
		}
	}
}

// verdict is what a signal asks for.
type verdict int

const (
	goOn verdict = iota
	stopGracefully
	stopAtOnce
)

// stopSignals judges the signals of one run in their order.
type stopSignals struct {
	first os.Signal // nil until there is one
	at    time.Time
	woken bool             // SIGCONT came since
	doubt <-chan time.Time // ends the wait for the SIGCONT of a second SIGTERM, which is then a real one
}

func (s *stopSignals) next(got os.Signal, now time.Time) verdict {
	switch {
	case len(woken) > 0 && got == woken[0]:
		s.woken, s.doubt = s.first != nil, nil
		return goOn
	case s.first == nil:
		s.first, s.at = got, now
		return stopGracefully
	case got != s.first || s.doubt != nil:
		return stopAtOnce
	case got == syscall.SIGTERM && now.Sub(s.at) < sameTerm && len(woken) > 0:
		if !s.woken {
			s.doubt = time.After(awaitCont)
		}
		return goOn
	case got == os.Interrupt && now.Sub(s.at) < sameTyping:
		return goOn
	}
	return stopAtOnce
}
