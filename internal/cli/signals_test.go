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
	const term, cont = syscall.SIGTERM, syscall.SIGCONT
	type sent struct {
		signal os.Signal
		at     int
	}
	for name, c := range map[string]struct {
		sent    []sent
		hurried int
	}{
		"one SIGTERM":                             {[]sent{{term, 0}}, -1},
		"one Ctrl+C":                              {[]sent{{os.Interrupt, 0}}, -1},
		"a second SIGTERM at once":                {[]sent{{term, 0}, {term, 0}}, 250},
		"a second SIGTERM a second later":         {[]sent{{term, 0}, {term, 1000}}, 1000},
		"a second SIGTERM that nobody woke for":   {[]sent{{term, 0}, {term, 300}}, 550},
		"timeout(1)":                              {[]sent{{term, 0}, {term, 1}, {cont, 1}, {cont, 1}}, -1},
		"timeout(1), seen in another order":       {[]sent{{term, 0}, {cont, 1}, {term, 1}, {cont, 1}}, -1},
		"timeout(1), interrupted between the two": {[]sent{{term, 0}, {term, 200}, {cont, 230}}, -1},
		"timeout(1), and then somebody":           {[]sent{{term, 0}, {term, 1}, {cont, 1}, {term, 700}}, 700},
		"a service manager, and then somebody":    {[]sent{{term, 0}, {cont, 0}, {term, 1000}}, 1000},
		"three SIGTERM at once":                   {[]sent{{term, 0}, {term, 10}, {term, 20}}, 20},
		"woken before it is stopped":              {[]sent{{cont, 0}, {term, 10}, {term, 20}}, 270},
		"one Ctrl+C that comes twice":             {[]sent{{os.Interrupt, 0}, {os.Interrupt, 5}}, -1},
		"Ctrl+C twice":                            {[]sent{{os.Interrupt, 0}, {os.Interrupt, 150}}, 150},
		"Ctrl+C and then SIGTERM":                 {[]sent{{os.Interrupt, 0}, {term, 5}}, 5},
		"SIGTERM and then Ctrl+C":                 {[]sent{{term, 0}, {os.Interrupt, 5}}, 5},
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
				err := untilSignal(t.Context(), func(os.Signal) {}, signals, func(ctx context.Context) error {
					<-ctx.Done()
					time.Sleep(time.Minute)
					return ended
				})
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
