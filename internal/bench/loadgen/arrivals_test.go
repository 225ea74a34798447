package loadgen

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// askStalling puts load on a server that answers at once, but for the tenth request, which it holds until hold is over and while
// which the one connection is busy.
func askStalling(t *testing.T, rate int) *Result {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 10 {
			held := time.NewTimer(hold)
			defer held.Stop()
			<-held.C
		}
	}))
	defer server.Close()
	result, err := Ask(t.Context(), AskOptions{
		Name: "stalling", URL: server.URL, Requests: []Request{{http.MethodGet, "/", ""}}, Concurrency: 1, Rate: rate, Duration: 3 * hold, Seed: 1,
	})
	if err != nil || result.Total.Failed() > 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	return result
}

const hold = 400 * time.Millisecond

// While the server stalls, some 120 of the 360 requests become due. In an open loop their waits count; in a closed loop only one
// request ever waited.
func TestLatencyCountsFromWhenARequestWasDue(t *testing.T) {
	open := askStalling(t, 300)
	if l := open.Total.Latency; l.P90 < ms(hold)/10 || l.Max < ms(hold)*9/10 {
		t.Errorf("open loop: %+v", l)
	}
	if o := open.Open; o.Asked != 300 || o.Due < 250 || o.Due > 470 || o.Due != open.Total.Requests+o.Unsent {
		t.Errorf("%+v, %d requests", o, open.Total.Requests)
	}
	closed := askStalling(t, 0)
	if l := closed.Total.Latency; l.P90 > ms(hold)/10 || l.Max < ms(hold)*9/10 || closed.Open != nil {
		t.Errorf("closed loop: %+v", l)
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

func TestAServiceThatDoesNotKeepUpIsReported(t *testing.T) {
	block := make(chan struct{})
	var answered atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if answered.Add(1) > 20 {
			<-block
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(500*time.Millisecond, func() { close(block) })
	result, err := Ask(ctx, AskOptions{
		Name: "slow", URL: server.URL, Requests: []Request{{http.MethodGet, "/", ""}}, Concurrency: 2, Rate: 1000, Duration: 300 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if o := result.Open; o.KeptUp || o.Unsent < 100 || o.Due < 200 || o.Due > 400 || o.Due != o.Unsent+result.Total.Requests {
		t.Errorf("%+v, %d requests", o, result.Total.Requests)
	}
}

func TestKeepingUpIsAllAndAsFast(t *testing.T) {
	a := &arrivals{rate: 100, made: 1000}
	for _, test := range []struct {
		requests int64
		rate     float64
		kept     bool
	}{{1000, 99, true}, {991, 96, true}, {980, 98, false}, {1000, 90, false}} {
		o := a.report(Measured{Requests: test.requests, PerSecond: test.rate}, 10*time.Second)
		if o.KeptUp != test.kept {
			t.Errorf("%+v: %+v", test, o)
		}
	}
}

func TestArrivalsComeAtTheirRate(t *testing.T) {
	for _, random := range []bool{false, true} {
		const rate, duration = 2000, 300 * time.Millisecond
		a := newArrivals(rate, 3, random)
		began := time.Now()
		go a.run(t.Context(), began, began.Add(duration))
		last, n := began, int64(0)
		for due := range a.due {
			if !due.After(last) || due.After(began.Add(duration)) || time.Now().Before(due) {
				t.Fatalf("due %s after the beginning, after one at %s", due.Sub(began), last.Sub(began))
			}
			last, n = due, n+1
		}
		if want := int64(rate * duration / time.Second); n < want*4/5 || n > want*6/5 || n != a.made || a.unsent != 0 {
			t.Errorf("%d arrivals, %+v", n, a)
		}
	}
}

// A load that ends while its arrivals are behind, because those who take them are slower, has had all that were due.
func TestArrivalsThatAreBehindWhenTheLoadEnds(t *testing.T) {
	const rate, duration = 100_000, 50 * time.Millisecond
	for range 20 {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), duration)
		a := newArrivals(rate, 1, true)
		go a.run(ctx, began, began.Add(duration))
		taken := int64(0)
		for range a.due {
			taken++
			for busy := time.Now(); time.Since(busy) < 20*time.Microsecond; { // half as fast as they come
			}
		}
		cancel()
		if due := int64(rate * duration / time.Second); a.made != taken+a.unsent || a.made < due*9/10 || a.made > due*11/10 {
			t.Errorf("%d were taken of %+v, of %d in all", taken, a, due)
		}
	}
}

func TestArrivalsEndWithTheirContext(t *testing.T) {
	for _, rate := range []int{1, 1_000_000} { // nobody takes any
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		a := newArrivals(rate, 1, true)
		began := time.Now()
		a.run(ctx, began, began.Add(time.Hour))
		if _, more := <-a.due; more || a.made != a.unsent {
			t.Errorf("%+v", a)
		}
	}
}
