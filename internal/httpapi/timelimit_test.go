package httpapi

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

type valueKey struct{}

// withLimit returns a context that ends with another, which leave ends, or after a second.
func withLimit(t *testing.T) (limit *timeLimit, leave context.CancelFunc) {
	parent, leave := context.WithCancel(context.WithValue(t.Context(), valueKey{}, "given"))
	t.Cleanup(leave)
	return &timeLimit{Context: parent, ends: time.Now().Add(time.Second)}, leave
}

func wantEnd(t *testing.T, ctx context.Context, want error) {
	t.Helper()
	if err := ctx.Err(); !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("it ends with %v, want %v", err, want)
	}
	select {
	case <-ctx.Done():
		if want == nil {
			t.Error("it has ended")
		}
	default:
		if want != nil {
			t.Error("it has not ended")
		}
	}
}

func TestATimeLimitEndsInTime(t *testing.T) {
	for name, waits := range map[string]bool{"nobody waited": false, "somebody waited": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limit, _ := withLimit(t)
				if ends, ok := limit.Deadline(); !ok || time.Until(ends) != time.Second {
					t.Errorf("its deadline is %v, %v", ends, ok)
				}
				if waits {
					wantEnd(t, limit, nil)
				}
				time.Sleep(time.Second - time.Nanosecond)
				if err := limit.Err(); err != nil {
					t.Errorf("ended before its time: %v", err)
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				wantEnd(t, limit, context.DeadlineExceeded)
				limit.stop()
				wantEnd(t, limit, context.DeadlineExceeded)
			})
		})
	}
}

func TestATimeLimitEndsWithItsParent(t *testing.T) {
	for name, waits := range map[string]bool{"nobody waited": false, "somebody waited": true} {
		t.Run(name, func(t *testing.T) {
			limit, leave := withLimit(t)
			if waits {
				wantEnd(t, limit, nil)
			}
			leave()
			wantEnd(t, limit, context.Canceled)
		})
	}
}

func TestStopEndsWhatIsMadeOfATimeLimit(t *testing.T) {
	limit, _ := withLimit(t)
	before := runtime.NumGoroutine()
	made, cancel := context.WithCancel(limit)
	defer cancel()
	if now := runtime.NumGoroutine(); now != before {
		t.Errorf("%d goroutines more for a context that is made of it", now-before)
	}
	if limit.Value(valueKey{}) != "given" || made.Value(valueKey{}) != "given" {
		t.Error("the value of its parent is lost")
	}
	wantEnd(t, made, nil)
	limit.stop()
	wantEnd(t, made, context.Canceled)
}

func TestATimeLimitThatNobodyWaitsForHasNoTimer(t *testing.T) {
	limit, _ := withLimit(t)
	value := context.WithValue(limit, stateKey{}, "other").Value(valueKey{})
	limit.stop()
	if value != "given" || limit.Err() != nil || limit.timed.Load() != nil {
		t.Error("it has a timer")
	}
}
