package cli

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// Every row is a run: signals after these many milliseconds, and when the run ends for want of patience; -1 is never.
func TestSignals(t *testing.T) {
	const term = syscall.SIGTERM
	type sent struct {
		signal os.Signal
		at     int
	}
	for name, c := range map[string]struct {
		sent    []sent
		hurried int
	}{
		"one SIGTERM":                 {[]sent{{term, 0}}, -1},
		"one Ctrl+C":                  {[]sent{{os.Interrupt, 0}}, -1},
		"timeout(1)":                  {[]sent{{term, 0}, {term, 1}}, -1},
		"one Ctrl+C that comes twice": {[]sent{{os.Interrupt, 0}, {os.Interrupt, 5}}, -1},
		"SIGTERM twice":               {[]sent{{term, 0}, {term, 100}}, 100},
		"timeout(1), then somebody":   {[]sent{{term, 0}, {term, 1}, {term, 700}}, 700},
		"Ctrl+C and then SIGTERM":     {[]sent{{os.Interrupt, 0}, {term, 150}}, 150},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals := make(chan os.Signal, 8)
				began := time.Now()
				go func() {
					for _, s := range c.sent {
						time.Sleep(time.Until(began.Add(time.Duration(s.at) * time.Millisecond)))
						signals <- s.signal
						synctest.Wait()
					}
				}()
				ended := errors.New("ended gracefully")
				err := untilSignal(t.Context(), signals, func(ctx context.Context) error {
					<-ctx.Done()
					time.Sleep(time.Minute)
					return ended
				}, func(os.Signal) {})
				took := time.Since(began)
				if want := time.Duration(c.hurried) * time.Millisecond; c.hurried >= 0 && (err != errHurried || took != want) {
					t.Errorf("%v after %v, want at once after %v", err, took, want)
				}
				if c.hurried < 0 && (err != ended || took != time.Minute) {
					t.Errorf("%v after %v, want the graceful end after a minute", err, took)
				}
				time.Sleep(2 * time.Minute) // the work that was not waited for ends too
			})
		})
	}
}
