package loadgen

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

const hold = 400 * time.Millisecond

// loadStalling puts load on a server that answers at once. It holds only the tenth request, which blocks the one connection.
func loadStalling(t *testing.T, rate int) *Result {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if asked.Add(1) == 10 {
			time.Sleep(hold)
		}
	}))
	defer server.Close()
	scenario, _ := FindScenario("rank")
	result, err := Run(t.Context(), Options{
		URL: server.URL, Bare: true, Scenario: scenario, Concurrency: 1, Rate: rate, Duration: 3 * hold, Members: 1, Skew: Uniform, Seed: 1,
	})
	if err != nil || result.Total.Failed() > 0 {
		t.Fatalf("the load: %+v (%v), want no failures", result, err)
	}
	return result
}

// While the server stalls, some 120 of the 360 requests become due. In an open loop their waits count. In a closed loop only one request
// waits.
func TestLatencyCountsFromTheTimeARequestIsDue(t *testing.T) {
	testenv.Again(t, func() error {
		open := loadStalling(t, 300)
		if l := open.Total.Latency; l.P90 < ms(hold)/10 || l.Max < ms(hold)*9/10 {
			return fmt.Errorf("the open loop's latency is %+v, want p90 and maximum near %v", l, hold)
		}
		o := open.Open
		if o.Asked != 300 || o.Due != open.Total.Requests+o.Unsent { // also on a busy machine
			t.Errorf("the open loop has %+v with %d requests, want 300 a second", o, open.Total.Requests)
		}
		if o.Due < 250 || o.Due > 470 {
			return fmt.Errorf("the open loop has %+v with %d requests, want about 360 due", o, open.Total.Requests)
		}
		closed := loadStalling(t, 0)
		if closed.Open != nil {
			t.Errorf("the closed loop has the open loop's counts %+v", closed.Open)
		}
		if l := closed.Total.Latency; l.P90 > ms(hold)/10 || l.Max < ms(hold)*9/10 {
			return fmt.Errorf("the closed loop's latency is %+v, want a low p90 and a maximum near %v", l, hold)
		}
		return nil
	})
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

func TestPercentilesAreExactToOnePerMille(t *testing.T) {
	record := newRecorder(2)
	for i := range 10_000 {
		record.succeeded(0, time.Duration(i+1)*100*time.Microsecond)
	}
	record.succeeded(1, 0)
	record.succeeded(1, 2*maxLatency)
	record.failed(1, timedOut)
	if succeeded, failed := record.count(); succeeded != 10_002 || failed != 1 {
		t.Errorf("%d requests succeeded and %d failed, want 10002 and 1", succeeded, failed)
	}
	m := measured("x", record.tallies[0], 4*time.Second)
	if m.Requests != 10_000 || m.PerSecond != 2500 || m.Failed() != 0 {
		t.Errorf("the measurement is %+v, want 10000 requests, 2500 a second", m)
	}
	for _, p := range []struct{ got, want float64 }{{m.Latency.P50, 500}, {m.Latency.P90, 900}, {m.Latency.P99, 990}, {m.Latency.P999, 999}, {m.Latency.Max, 1000}} {
		if p.got < p.want || p.got > p.want*1.001 {
			t.Errorf("a percentile is %g ms, want %g: %+v", p.got, p.want, m.Latency)
		}
	}
	other := measured("y", record.tallies[1], time.Second)
	if !maps.Equal(other.Errors, map[string]int64{timedOut: 1}) || other.Latency.Max < 60_000 || other.Latency.Max > 60_060 {
		t.Errorf("the other operation is %+v, want one timeout after 60 s", other)
	}
}

func TestTheTableHasEveryOperation(t *testing.T) {
	r := &Result{
		Scenario: "mixed", URL: "http://h:1", Concurrency: 64, Members: 100_000, Active: 1000, Guilds: 1, Skew: Zipf, Seed: 42, Seconds: 10.04,
		Operations: []Measured{
			{Name: "increment", Requests: 1_234_567, PerSecond: 123456.7, Latency: Latency{0.4321, 1.5, 12.34, 99.96, 1234.5}},
			{Name: "member", Requests: 999, PerSecond: 99.9, Errors: map[string]int64{"503": 1000}},
		},
		Total:        Measured{Name: "total", Requests: 1_235_566, PerSecond: 123556.6, Errors: map[string]int64{"503": 1000, brokenOff: 2}},
		Verification: &Verification{Members: 100_000, Acknowledged: 5000, Unknown: 30, Gained: 5010},
		Interrupted:  true,
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	const want = `mixed at http://h:1: 64 connections, 100,000 members (1,000 active, zipf) of 1 guild, seed 42, 10.0 s

  OPERATION   REQUESTS  ERRORS  PER SECOND  P50 MS  P90 MS  P99 MS  P99.9 MS   MAX MS
  increment  1,234,567       0     123,457    0.43    1.50   12.34     99.96  1234.50
     member        999   1,000         100    0.00    0.00    0.00      0.00     0.00
      total  1,235,566   1,002     123,557    0.00    0.00    0.00      0.00     0.00

Interrupted before its time.

Errors: 503 (1,000 times), broken connection (2 times).

Verified: 100,000 members gained the 5,000 XP that were acknowledged, and 10 of the 30 XP whose outcome is unknown.
`
	if b.String() != want {
		t.Errorf("the table is\n%s\nwant\n%s", b.String(), want)
	}
}

func someBench(members int) *bench {
	return &bench{
		Options: Options{Members: members, Active: members, Skew: Uniform, Batch: Mixed}, spread: spread{members, 1, 0}, loadKeys: []apiKey{{"id", "lb_key"}}, ledger: newLedger(members),
	}
}

func TestTheSeedDecidesTheRequests(t *testing.T) {
	mixed, _ := FindScenario("mixed")
	draws := func(seed uint64) (counts []int, requests []string) {
		m := newMix(someBench(1000), mixed.shares, rand.New(rand.NewPCG(seed, 0)))
		counts = make([]int, len(mixed.shares))
		for range 5000 {
			operation := m.draw()
			r := m.steps[operation].next()
			counts[operation]++
			requests = append(requests, r.method+r.path+string(r.body))
		}
		return counts, requests
	}
	counts, requests := draws(1)
	if _, again := draws(1); !slices.Equal(requests, again) {
		t.Error("the same seed made other requests")
	}
	if _, other := draws(2); slices.Equal(requests, other) {
		t.Error("another seed made the same requests")
	}
	for i, share := range mixed.shares {
		if want := 50 * share.weight; counts[i] < want-200 || counts[i] > want+200 {
			t.Errorf("5000 requests have the operations %v, want %d%% of %s", counts, share.weight, share.operation.name)
		}
	}
}
