package testenv

import (
	"testing"
	"time"
)

// Patience bounds each wait for what takes a moment on an idle machine.
const Patience = 2 * time.Minute

const pollInterval = 5 * time.Millisecond

// Wait returns when ok holds, which it asks every few milliseconds. After
// [Patience] it fails the test with what did not happen, and details if given.
func Wait(tb testing.TB, what string, ok func() bool, details ...func() string) {
	tb.Helper()
	waitWithin(tb, Patience, what, ok, details...)
}

func waitWithin(tb testing.TB, limit time.Duration, what string, ok func() bool, details ...func() string) {
	tb.Helper()
	if poll(limit, ok) {
		return
	}
	text := ""
	for _, detail := range details {
		text += "\n" + detail()
	}
	tb.Fatalf("not within %v: %s%s", limit, what, text)
}

// poll reports whether ok held within the limit.
func poll(limit time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(pollInterval) {
		if ok() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}
