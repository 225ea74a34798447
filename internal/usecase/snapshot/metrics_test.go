package snapshot_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/snapshot"
)

// values reads all metrics without labels; of a histogram, how many were observed. Those of the package are of the whole process.
func (w *world) values(of *snapshot.Writer) map[string]float64 {
	w.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(snapshot.Collectors()...)
	registry.MustRegister(of.Collector())
	families, err := registry.Gather()
	w.must(err)
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
	w := embeddedWorld(t)
	first, second := w.writer("first", never, &faults{}), w.writer("second", never, &faults{})
	before := w.values(first)
	if _, told := before["guilds_loaded"]; told || before["snapshot_lease_held"] != 0 {
		t.Errorf("without the lease it tells %v", before)
	}
	g := w.guild(guildA)
	w.create(g, 1, 100)
	w.must(first.Flush(w.Context()))
	got := w.values(first)
	if got["snapshot_lease_held"] != 1 || got["guilds_loaded"] != 1 || got["snapshot_backlog_members"] != 0 {
		t.Errorf("with the lease it tells %v", got)
	}
	if n := got["hydration_duration_seconds"] - before["hydration_duration_seconds"]; n != 1 || got["hydrations_total"]-before["hydrations_total"] != n {
		t.Errorf("%g loads were timed, want 1", n)
	}
	if held := w.values(second)["snapshot_lease_held"]; held != 0 {
		t.Error("the other one says that it holds the lease")
	}
	w.must(first.Release(w.Context()))
	if got := w.values(first); got["snapshot_lease_held"] != 0 || got["snapshot_leases_lost_total"] != before["snapshot_leases_lost_total"] {
		t.Errorf("once it gave the lease up it tells %v", got)
	}
}

// heard notes which guilds a scrape says are stuck.
type heard struct {
	snapshot.Live
	stuck []id.Guild
}

func (h *heard) Backlog(ctx context.Context, underway, stuck []id.Guild) (snapshot.Backlog, error) {
	h.stuck = stuck
	return h.Live.Backlog(ctx, underway, stuck)
}

// Of thousands of guilds that wait a scrape asks some only, but always those that cannot be written, whose changes grow old.
func TestTheBacklogIsToldWhichGuildsAreStuck(t *testing.T) {
	w := embeddedWorld(t)
	g := w.guild(guildA)
	w.create(g, 1, 100)
	broken := true
	f := &faults{before: func(_ context.Context, c call) error {
		if broken && c.method == "WriteBatches" {
			return errBroken
		}
		return nil
	}}
	live := &heard{Live: w.live}
	writer := snapshot.NewWriter(live, faultyArchive{w.archive, f}, w.hydrator(f), snapshot.WriterOptions{Holder: "writer", Interval: never, Log: w.log()})
	for _, want := range [][]id.Guild{{guildA}, nil} {
		broken = want != nil
		if err := writer.Flush(w.Context()); (err != nil) != broken {
			t.Fatalf("flush: %v", err)
		}
		if w.values(writer); !slices.Equal(live.stuck, want) {
			t.Errorf("stuck are %v, want %v", live.stuck, want)
		}
	}
}

// While the archive is away no round begins: what is due is counted as having failed, once an interval.
func TestAnArchiveThatIsAwayFailsEachRoundThatIsDue(t *testing.T) {
	w := embeddedWorld(t)
	w.create(w.guild(guildA), 1, 100)
	f := &faults{before: func(_ context.Context, c call) error {
		if c.method == "AcquireLease" {
			return errBroken
		}
		return nil
	}}
	writer := w.writer("writer", 4*time.Millisecond, f)
	before := w.values(writer)["snapshot_failures_total"]
	stop := w.running(writer)
	failed := func() float64 { return w.values(writer)["snapshot_failures_total"] - before }
	w.eventually("rounds fail", func() bool { return failed() > 3 })
	stop()
	if n, tried := failed(), f.count("AcquireLease"); n > float64(tried) {
		t.Errorf("%g failures were counted, of %d tries", n, tried)
	}
	if n := w.logged.count("the archive does not answer"); n != 1 {
		t.Errorf("%d lines about the archive, want 1:\n%s", n, w.logged)
	}
}

// A lease that passes to another one is lost; one that was lost and is back by the next tick as well.
func TestLostLeasesAreCounted(t *testing.T) {
	for name, back := range map[string]bool{"it stays away": false, "it is back": true} {
		t.Run(name, func(t *testing.T) {
			w := embeddedWorld(t)
			writer := w.writer("first", 20*time.Millisecond, &faults{})
			lost := w.values(writer)["snapshot_leases_lost_total"]
			stop := w.running(writer)
			defer stop()
			w.eventually("it holds the lease", func() bool { return w.values(writer)["snapshot_lease_held"] == 1 })
			own, err := w.archive.AcquireLease(w.Context(), "first", 0, false) // its own, which ends now
			w.must(err)
			w.eventually("another one takes it", func() bool {
				_, _ = w.archive.AcquireLease(w.Context(), "first", 0, false)
				other, err := w.archive.AcquireLease(w.Context(), "second", taken, false)
				if err == nil && back {
					w.must(w.archive.ReleaseLease(w.Context(), other))
				}
				return err == nil && other.Fence > own.Fence
			})
			w.eventually("it is counted", func() bool { return w.values(writer)["snapshot_leases_lost_total"] == lost+1 })
			if back {
				w.eventually("it holds the lease again", func() bool { return w.values(writer)["snapshot_lease_held"] == 1 })
			} else if w.values(writer)["snapshot_lease_held"] != 0 {
				t.Error("it says that it holds the lease")
			}
		})
	}
}
