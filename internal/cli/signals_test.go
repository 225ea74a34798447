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

// Each row has signals with their milliseconds, and when the run is ended by force; -1 is never.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	const term = syscall.SIGTERM
	type sent struct {
		signal os.Signal
		at     int
	}
	for name, c := range map[string]struct {
		sent    []sent
		hurried int
	}{
		"one SIGTERM":                     {[]sent{{term, 0}}, -1},
		"one Ctrl+C":                      {[]sent{{os.Interrupt, 0}}, -1},
		"timeout(1)":                      {[]sent{{term, 0}, {term, 1}}, -1},
		"one Ctrl+C that comes twice":     {[]sent{{os.Interrupt, 0}, {os.Interrupt, 5}}, -1},
		"SIGTERM twice":                   {[]sent{{term, 0}, {term, 100}}, 100},
		"timeout(1), then a third signal": {[]sent{{term, 0}, {term, 1}, {term, 700}}, 700},
		"Ctrl+C and then SIGTERM":         {[]sent{{os.Interrupt, 0}, {term, 150}}, 150},
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
					t.Errorf("the run ended with %v after %v, want errHurried after %v", err, took, want)
				}
				if c.hurried < 0 && (err != ended || took != time.Minute) {
					t.Errorf("the run ended with %v after %v, want the graceful end after a minute", err, took)
				}
				time.Sleep(2 * time.Minute) // lets the abandoned work end too
			})
		})
	}
}
