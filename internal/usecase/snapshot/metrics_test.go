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

// values reads all metrics without labels, and the counts of histograms. Other tests of this process raise them too.
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

func TestMetricsTellWhoHoldsTheLease(t *testing.T) {
	w := stores.Embedded(t)
	first, second := w.Writer("first", stores.Never, &stores.Faults{}), w.Writer("second", stores.Never, &stores.Faults{})
	before := values(w, first)
	if _, told := before["guilds_loaded"]; told || before["snapshot_lease_held"] != 0 {
		t.Errorf("without the lease the metrics are %v, want no count of guilds", before)
	}
	g := w.Guild(stores.GuildA)
	w.Create(g, 1, 100)
	w.Must(first.Flush(w.Context()))
	got := values(w, first)
	if got["snapshot_lease_held"] != 1 || got["guilds_loaded"] != 1 || got["snapshot_backlog_members"] != 0 {
		t.Errorf("with the lease the metrics are %v, want one guild loaded and no backlog", got)
	}
	if n := got["hydration_duration_seconds"] - before["hydration_duration_seconds"]; n != 1 || got["hydrations_total"]-before["hydrations_total"] != n {
		t.Errorf("%g loads were timed, want 1", n)
	}
	if held := values(w, second)["snapshot_lease_held"]; held != 0 {
		t.Error("the other writer's metric says that it holds the lease")
	}
	w.Must(first.Release(w.Context()))
	if got := values(w, first); got["snapshot_lease_held"] != 0 || got["snapshot_leases_lost_total"] != before["snapshot_leases_lost_total"] {
		t.Errorf("after the release the metrics are %v, want no lease and none lost", got)
	}
}

// While the archive is down no round begins. Each interval counts one failed round.
func TestEachRoundWithoutTheArchiveIsAFailure(t *testing.T) {
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
		t.Errorf("%g failures were counted, want at most the %d tries", n, tried)
	}
	if n := w.Logged.Count("the archive does not respond"); n != 1 {
		t.Errorf("%d log lines say that the archive is down, want 1:\n%s", n, w.Logged)
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
			own, err := w.Archive.AcquireLease(w.Context(), "first", 0, false) // expires its own lease
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
				t.Error("after the loss the metric says that the writer holds the lease")
			}
		})
	}
}
