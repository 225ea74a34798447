package loadgen

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/level"
)

func TestPercentilesOfWhatAllConnectionsRecorded(t *testing.T) {
	record := newRecorder(2)
	var group sync.WaitGroup
	for connection := range 10 {
		group.Go(func() {
			for i := connection; i < 10_000; i += 10 {
				record.of(connection).succeeded(0, time.Duration(i+1)*100*time.Microsecond)
			}
			record.of(connection).failed(1, "503")
		})
	}
	group.Wait()
	record.of(3).succeeded(1, 0)
	record.of(4).succeeded(1, 2*maxLatency)
	record.of(5).failed(1, timedOut)

	if succeeded, failed := record.count(); succeeded != 10_002 || failed != 11 {
		t.Errorf("%d succeeded, %d failed", succeeded, failed)
	}
	totals := record.totals()
	m := measured("x", totals[0], 4*time.Second)
	if m.Requests != 10_000 || m.PerSecond != 2500 || m.Failed() != 0 {
		t.Errorf("%+v", m)
	}
	for _, p := range []struct{ got, want float64 }{{m.Latency.P50, 500}, {m.Latency.P90, 900}, {m.Latency.P99, 990}, {m.Latency.P999, 999}, {m.Latency.Max, 1000}} {
		if p.got < p.want || p.got > p.want*1.001 {
			t.Errorf("%g ms instead of %g: %+v", p.got, p.want, m.Latency)
		}
	}
	other := measured("y", totals[1], time.Second)
	if other.Requests != 2 || !maps.Equal(other.Errors, map[string]int64{"503": 10, timedOut: 1}) || other.Latency.Max < 60_000 || other.Latency.Max > 60_060 {
		t.Errorf("%+v", other)
	}
}

func TestTable(t *testing.T) {
	r := &Result{
		Scenario: "mixed", URL: "http://h:1", Concurrency: 64, Members: 100_000, Active: 1000, Skew: Zipf, Seed: 42, Seconds: 10.04, GeneratorCPU: 5.02,
		Operations: []Measured{
			{Name: "increment", Requests: 1_234_567, PerSecond: 123456.7, Latency: Latency{0.4321, 1.5, 12.34, 99.96, 1234.5}},
			{Name: "member", Requests: 999, PerSecond: 99.9, Errors: map[string]int64{"503": 1000}},
		},
		Total:        Measured{Name: "total", Requests: 1_235_566, PerSecond: 123556.6, Errors: map[string]int64{"503": 1000, brokenOff: 2}},
		Verification: &Verification{Done: true, Members: 100_000, Acknowledged: 5000, Unknown: 30, Gained: 5010},
		Watched:      &Watched{Scrapes: 12, Failures: 1, OldestUnsaved: &Gauge{9.87, 4.32}},
		Interrupted:  true,
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	const want = `mixed at http://h:1: 64 connections, 100,000 members, 1,000 of them active (zipf), seed 42, 10.0 s

  OPERATION   REQUESTS  ERRORS  PER SECOND  P50 MS  P90 MS  P99 MS  P99.9 MS  MAX MS
  increment  1,234,567       0     123,457    0.43    1.50    12.3     100.0   1,235
     member        999   1,000         100    0.00    0.00    0.00      0.00    0.00
      total  1,235,566   1,002     123,557    0.00    0.00    0.00      0.00    0.00

Interrupted before its time.

Errors: 503 (1,000 times), broken connection (2 times).

Verified: 100,000 members gained the 5,000 XP that were acknowledged, and 10 of the 30 whose outcome is unknown.

The service's metrics could not be read 1 times of 12.

Oldest change without a snapshot: 9.9 s at most, 4.3 s at the end.

The service has no metric levelboard_snapshot_backlog_members.

The load generator used 0.50 processors.
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
	r.Operations, r.Verification = r.Operations[:1], &Verification{Done: true, Lost: 3}
	b.Reset()
	if err := r.WriteTable(&b); err != nil || strings.Contains(b.String(), "total") || !strings.Contains(b.String(), "WRONG: the verification failed: 3 XP lost") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s", n, got)
		}
	}
}

func TestCompareJudgesEachMember(t *testing.T) {
	l := newLedger(2)
	l.acknowledge(0, 10)
	l.acknowledge(1, 10)
	most := int64(level.MaxXP)
	if v := l.compare(board{most - 4, 5}, board{most, 15}); !v.Passed() || v.Gained != 14 {
		t.Errorf("%+v", v)
	}
	if v := l.compare(board{most - 4, 5}, board{most - 1, 15}); v.Passed() || v.Lost != 7 {
		t.Errorf("%+v", v)
	}
	if v := l.compare(board{most - 10, 5}, board{most, absent}); v.Passed() || v.Missing != 1 || v.Lost != 0 {
		t.Errorf("%+v", v)
	}
	if err := (Verification{Error: "page 1: gone"}).problem(); err == nil || !strings.Contains(err.Error(), "could not be verified: page 1: gone") {
		t.Errorf("%v", err)
	}
}

func TestWatchKeepsTheLargestAndTheLast(t *testing.T) {
	values := []string{"3", "", "7.5", "1.25"}
	looks := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		value := values[looks]
		looks++
		if value == "" || r.URL.Path != "/metrics" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "# TYPE other counter\nother{a=\"b\"} 9\n# TYPE %s gauge\n%s %s\n", oldestUnsaved, oldestUnsaved, value)
	}))
	defer server.Close()
	w := &watcher{address: server.URL + "/metrics", client: server.Client()}
	for range values {
		w.look(t.Context())
	}
	if w.seen.Scrapes != 4 || w.seen.Failures != 1 || w.seen.Backlog != nil || *w.seen.OldestUnsaved != (Gauge{Max: 7.5, Last: 1.25}) {
		t.Errorf("%+v", w.seen)
	}
	if watch(t.Context(), "")() != nil {
		t.Error("nothing was to be watched")
	}
}
