package snapshot_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/snapshot"
)

// values reads all metrics without labels; of a histogram, how many were observed. Those of both packages are of the whole process.
func values(w *stores.World, of *snapshot.Writer) map[string]float64 {
	w.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(slices.Concat(snapshot.Collectors(), hydrate.Collectors())...)
	registry.MustRegister(of.Collector())
	families, err := registry.Gather()
	w.Must(err)
	found := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			found[family.GetName()[len("levelboard_"):]] =
				m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return found
}

func TestMetricsOfTheLease(t *testing.T) {
	w := stores.Embedded(t)
	first, second := w.Writer("first", stores.Never, &stores.Faults{}), w.Writer("second", stores.Never, &stores.Faults{})
	before := values(w, first)
	if _, told := before["guilds_loaded"]; told || before["snapshot_lease_held"] != 0 {
		t.Errorf("without the lease it tells %v", before)
	}
	g := w.Guild(stores.GuildA)
	w.Create(g, 1, 100)
	w.Must(first.Flush(w.Context()))
	got := values(w, first)
	if got["snapshot_lease_held"] != 1 || got["guilds_loaded"] != 1 || got["snapshot_backlog_members"] != 0 {
		t.Errorf("with the lease it tells %v", got)
	}
	if n := got["hydration_duration_seconds"] - before["hydration_duration_seconds"]; n != 1 || got["hydrations_total"]-before["hydrations_total"] != n {
		t.Errorf("%g loads were timed, want 1", n)
	}
	if held := values(w, second)["snapshot_lease_held"]; held != 0 {
		t.Error("the other one says that it holds the lease")
	}
	w.Must(first.Release(w.Context()))
	if got := values(w, first); got["snapshot_lease_held"] != 0 || got["snapshot_leases_lost_total"] != before["snapshot_leases_lost_total"] {
		t.Errorf("once it gave the lease up it tells %v", got)
	}
}

// While the archive is away no round begins. Each interval counts one failed round.
func TestAnArchiveThatIsAwayFailsEachRoundThatIsDue(t *testing.T) {
	w := stores.Embedded(t)
	w.Create(w.Guild(stores.GuildA), 1, 100)
	f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
		if c.Method == "AcquireLease" {
			return stores.ErrBroken
		}
		return nil
	}}
	writer := w.Writer("writer", 4*time.Millisecond, f)
	before := values(w, writer)["snapshot_failures_total"]
	stop := w.Running(writer)
	failed := func() float64 { return values(w, writer)["snapshot_failures_total"] - before }
	w.Eventually("rounds fail", func() bool { return failed() > 3 })
	stop()
	if n, tried := failed(), f.Count("AcquireLease"); n > float64(tried) {
		t.Errorf("%g failures were counted, of %d tries", n, tried)
	}
	if n := w.Logged.Count("the archive does not respond"); n != 1 {
		t.Errorf("%d lines about the archive, want 1:\n%s", n, w.Logged)
	}
}

// A lease that passes to another holder counts as lost, even if it is back by the next tick.
func TestLostLeasesAreCounted(t *testing.T) {
	for name, back := range map[string]bool{"it stays away": false, "it is back": true} {
		t.Run(name, func(t *testing.T) {
			w := stores.Embedded(t)
			writer := w.Writer("first", 20*time.Millisecond, &stores.Faults{})
			lost := values(w, writer)["snapshot_leases_lost_total"]
			stop := w.Running(writer)
			defer stop()
			w.Eventually("it holds the lease", func() bool { return values(w, writer)["snapshot_lease_held"] == 1 })
			own, err := w.Archive.AcquireLease(w.Context(), "first", 0, false) // its own, which ends now
			w.Must(err)
			w.Eventually("another one takes it", func() bool {
				_, _ = w.Archive.AcquireLease(w.Context(), "first", 0, false)
				other, err := w.Archive.AcquireLease(w.Context(), "second", stores.Taken, false)
				if err == nil && back {
					w.Must(w.Archive.ReleaseLease(w.Context(), other))
				}
				return err == nil && other.Fence > own.Fence
			})
			w.Eventually("it is counted", func() bool { return values(w, writer)["snapshot_leases_lost_total"] == lost+1 })
			if back {
				w.Eventually("it holds the lease again", func() bool { return values(w, writer)["snapshot_lease_held"] == 1 })
			} else if values(w, writer)["snapshot_lease_held"] != 0 {
				t.Error("it says that it holds the lease")
			}
		})
	}
}
