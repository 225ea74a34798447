package ratelimit_test

import (
	"testing"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/store/ratelimit"
)

// Who came while a question to a silent Redis was under way has spent that part of their patience, or a request would wait for
// two questions; after an answer all of it counts from there.
func TestPatienceIsSpentOnce(t *testing.T) {
	now := time.Now()
	ago := func(ms int) time.Time { return now.Add(-time.Duration(ms) * time.Millisecond) }
	ctx := pause.WithPatience(t.Context(), 500*time.Millisecond)
	for _, c := range []struct {
		arrived, heard time.Time
		want           time.Duration
	}{
		{now, time.Time{}, 500 * time.Millisecond},
		{ago(400), time.Time{}, 100 * time.Millisecond},
		{ago(400), ago(100), 400 * time.Millisecond},
		{ago(100), ago(400), 400 * time.Millisecond},
		{ago(500), time.Time{}, 50 * time.Millisecond},
		{ago(-1000), time.Time{}, 500 * time.Millisecond}, // a clock that was set back
	} {
		if got := pause.Patience(ratelimit.Patient(ctx, c.arrived, c.heard, now)); got != c.want {
			t.Errorf("arrived %v before, heard %v before: %v, want %v", now.Sub(c.arrived), now.Sub(c.heard), got, c.want)
		}
	}
	if got := pause.Patience(ratelimit.Patient(t.Context(), ago(400), time.Time{}, now)); got != 0 {
		t.Errorf("without patience it is %v", got)
	}
}
