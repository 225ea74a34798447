package testenv

import (
	"testing"
	"time"
)

// Patience bounds each wait for something that takes a moment on an idle machine.
const Patience = 3 * time.Minute

const pollInterval = 5 * time.Millisecond

// Wait polls ok every few milliseconds and returns when it is true. After
// [Patience] it fails the test with what, and details if given.
func Wait(tb testing.TB, what string, ok func() bool, details ...func() string) {
	tb.Helper()
	waitWithin(tb, Patience, what, ok, details...)
}

func waitWithin(tb testing.TB, limit time.Duration, what string, ok func() bool, details ...func() string) {
	tb.Helper()
	if !Poll(limit, ok) {
		fail(tb, limit, what, details)
	}
}

func fail(tb testing.TB, limit time.Duration, what string, details []func() string) {
	tb.Helper()
	text := ""
	for _, detail := range details {
		text += "\n" + detail()
	}
	tb.Fatalf("after %v still not: %s%s", limit, what, text)
}

// Receive receives from a channel, and returns whether the channel is open. After
// [Patience] it fails the test with what.
func Receive[T any](tb testing.TB, from <-chan T, what string, details ...func() string) (T, bool) {
	tb.Helper()
	var came T
	var open bool
	late := time.NewTimer(Patience)
	defer late.Stop()
	select {
	case came, open = <-from:
	case <-late.C:
		fail(tb, Patience, what, details)
	}
	return came, open
}

// Poll reports whether ok became true within the limit. It polls often at first,
// then every few milliseconds.
func Poll(limit time.Duration, ok func() bool) bool {
	pause := pollInterval / 64
	for deadline := time.Now().Add(limit); ; time.Sleep(pause) {
		if ok() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		pause = min(2*pause, pollInterval)
	}
}
