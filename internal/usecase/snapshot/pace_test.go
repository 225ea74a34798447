package snapshot_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/usecase/snapshot"
)

func TestMembersAreSpreadOverTheTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		within time.Duration
		each   time.Duration // takes a batch of 1000
		size   int64
		want   []time.Duration // batch by batch, when it begins
	}{
		{"evenly", 8 * time.Second, time.Second, 4000, []time.Duration{0, 2 * time.Second, 4 * time.Second, 6 * time.Second}},
		{"with a rest", 8 * time.Second, time.Second, 3200, []time.Duration{0, 2500 * time.Millisecond, 5 * time.Second, 7500 * time.Millisecond}},
		{"some came twice", 8 * time.Second, time.Second, 2000, []time.Duration{0, 4 * time.Second, 8 * time.Second, 9 * time.Second}},
		{"late", 8 * time.Second, 3 * time.Second, 4000, []time.Duration{0, 3 * time.Second, 6 * time.Second, 9 * time.Second}},
		{"without a time", 0, time.Second, 3000, []time.Duration{0, time.Second, 2 * time.Second}},
		{"too late", -time.Second, time.Second, 2000, []time.Duration{0, time.Second}},
		{"of nobody", 8 * time.Second, time.Second, 0, []time.Duration{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, pace := time.Now(), snapshot.NewPace(c.size, time.Now().Add(c.within))
				var got []time.Duration
				for range c.want {
					pace.Wait(t.Context(), 1000)
					got = append(got, time.Since(began))
					time.Sleep(c.each)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("batches at %v, want %v", got, c.want)
				}
			})
		})
	}
}

func TestAPaceDoesNotOutlastTheRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, pace := time.Now(), snapshot.NewPace(2000, time.Now().Add(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		pace.Wait(ctx, 1000)
		pace.Wait(ctx, 1000)
		if took := time.Since(began); took != time.Second {
			t.Errorf("waited %v after the round had ended", took)
		}
	})
}

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
	w := embeddedWorld(t)
	g := w.guild(guildA)
	for i := range 2500 {
		w.create(g, i, 100)
	}
	var began, last time.Time
	f := &faults{before: func(_ context.Context, c call) error {
		switch {
		case c.method == "AcquireLease" && c.n == 1:
			began = time.Now()
		case c.method == "ReadBatch" && c.n == 3:
			last = time.Now()
		}
		return nil
	}}
	stop := w.running(w.writer("writer", interval, f))
	w.eventually("all batches", func() bool { return f.count("EndFlush") == 1 })
	stop()
	w.inStep(g)
	if took, want := last.Sub(began), interval/2*2000/2500; took < want {
		t.Errorf("the third batch was read after %v, want %v or later", took, want)
	}

	for i := range 2500 {
		w.add(g, i)
	}
	w.killed("writer")
	w.must(w.writer("in a hurry", never, &faults{}).Flush(t.Context()))
	w.inStep(g)
}
