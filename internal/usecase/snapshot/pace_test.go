package snapshot_test

import (
	"context"
	"testing"
	"time"

	"levelboard/internal/usecase/snapshot"
)

func TestARoundThatBeginsLateHasLessTime(t *testing.T) {
	const interval = 8 * time.Second
	writer := snapshot.NewWriter(nil, nil, nil, snapshot.WriterOptions{Interval: interval})
	began := time.Now()
	for _, c := range []struct {
		name string
		last time.Time // when the round before began
		due  time.Duration
	}{
		{"the first one", time.Time{}, 4 * time.Second},
		{"in time", began.Add(-interval), 4 * time.Second},
		{"early", began.Add(-interval + time.Second), 4 * time.Second},
		{"late", began.Add(-interval - 3*time.Second), time.Second},
		{"too late", began.Add(-interval - 20*time.Second), -16 * time.Second},
	} {
		if due := writer.DueOf(began, c.last).Sub(began); due != c.due {
			t.Errorf("%s: due after %v, want %v", c.name, due, c.due)
		}
	}
}

// A large guild takes the time of the round, and none when the writer is told to be done. No test says how fast that is: the bounds
// are those that no machine is too slow for.
func TestALargeGuildIsSpreadOverTheRound(t *testing.T) {
	const interval = time.Second
	w := serverWorld(t)
	g := w.guild(guildA)
	for i := range 2500 {
		w.create(g, i, 100)
	}
	var began, last time.Time
	f := &faults{before: func(_ context.Context, c call) error {
		switch {
		case c.method == "AcquireLease" && c.n == 1:
			began = time.Now()
		case c.method == "ReadChanges" && c.n == 4:
			last = time.Now()
		}
		return nil
	}}
	stop := w.running(w.writer("writer", interval, f))
	w.eventually("all batches", func() bool { return w.nothingWaits(g) })
	stop()
	w.inStep(g)
	if took, want := last.Sub(began), interval/2*2000/2400; took < want {
		t.Errorf("the last page was read after %v, want %v or later", took, want)
	}

	w.addToAll(g, 2500)
	w.killed("writer")
	w.must(w.writer("in a hurry", never, &faults{}).Flush(t.Context()))
	w.inStep(g)
}
