package loadgen

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Result is what a run measured.
type Result struct {
	Scenario    string  `json:"scenario"`
	URL         string  `json:"url"`
	Concurrency int     `json:"concurrency"`
	Members     int     `json:"members"`
	Active      int     `json:"active"` // of the members
	Guilds      int     `json:"guilds"`
	Skew        Skew    `json:"skew"`
	Seed        uint64  `json:"seed"`
	Seconds     float64 `json:"seconds"` // that the load lasted, the last answers included
	Interrupted bool    `json:"interrupted"`

	Operations   []Measured    `json:"operations"`
	Total        Measured      `json:"total"`
	Open         *OpenLoop     `json:"openLoop"`     // nil for a closed loop
	Writers      *Writers      `json:"writers"`      // nil if nothing writes beside the scenario
	Messages     *Messages     `json:"messages"`     // nil if the scenario sends none
	Verification *Verification `json:"verification"` // nil if it was not asked for
	Watched      *Watched      `json:"watched"`      // nil if it was not asked for
}

// Measured is what was measured of one operation, or of all.
type Measured struct {
	Name      string           `json:"name"`
	Requests  int64            `json:"requests"` // that ended as they should
	Errors    map[string]int64 `json:"errors"`   // the others, by status or by what came instead of an answer
	PerSecond float64          `json:"perSecond"`
	Latency   Latency          `json:"latencyMs"`
}

// Failed is how many requests did not end as they should.
func (m Measured) Failed() int64 { return sum(m.Errors) }

// Latency is the distribution of the time from a request to the end of its answer, in milliseconds, of those requests that ended as they
// should; in an open loop from when the request was due. Three digits are exact; a minute stands for a minute and more.
type Latency struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// OpenLoop is how the service kept up with arrivals.
type OpenLoop struct {
	Asked  int   `json:"asked"`  // arrivals a second, in the mean
	Due    int64 `json:"due"`    // requests that were due while the load lasted
	Unsent int64 `json:"unsent"` // of them, those for which no connection was free until the end; no latency holds them
	KeptUp bool  `json:"keptUp"` // nearly all that were due ended as they should, and nearly as fast as they came
}

// Writers are the increments that were made beside the scenario's requests.
type Writers struct {
	Asked int `json:"asked"` // a second
	Measured
}

// Messages is what was sent in calls that ended as they should.
type Messages struct {
	Batch     Batch   `json:"batch"`
	Messages  int64   `json:"messages"`
	PerSecond float64 `json:"perSecond"`
}

// A service keeps up if keptUpShare of the due requests end as they should, which allows for a short hesitation at the end, at
// keptUpRate of the rate at which they came.
const (
	keptUpShare = 0.99
	keptUpRate  = 0.95
)

func (a *arrivals) report(total Measured, during time.Duration) *OpenLoop {
	due := float64(a.made)
	kept := float64(total.Requests) >= keptUpShare*due && total.PerSecond >= keptUpRate*due/during.Seconds()
	return &OpenLoop{Asked: a.rate, Due: a.made, Unsent: a.unsent, KeptUp: kept}
}

func (b *bench) report(c *crowd, took time.Duration) *Result {
	r := &Result{
		Scenario: b.Scenario.Name, URL: b.URL, Concurrency: b.Concurrency, Members: b.Members, Active: b.Active, Guilds: b.guilds, Skew: b.Skew, Seed: b.Seed,
		Seconds: took.Seconds(),
	}
	total := newTally()
	for i, t := range c.record.tallies {
		r.Operations = append(r.Operations, measured(c.shares[i].operation.name, t, took))
		total.merge(t)
	}
	r.Total = measured("total", total, took)
	if c.arrivals != nil {
		r.Open = c.arrivals.report(r.Total, min(b.Duration, took))
	}
	if b.Scenario.sendsMessages() {
		n := b.messages.Load()
		r.Messages = &Messages{b.Batch, n, float64(n) / took.Seconds()}
	}
	return r
}

func measured(name string, t *tally, took time.Duration) Measured {
	at := func(percentile float64) float64 { return float64(t.latency.ValueAtPercentile(percentile)) / 1000 }
	n := t.latency.TotalCount()
	return Measured{
		Name: name, Requests: n, Errors: t.errors, PerSecond: float64(n) / took.Seconds(),
		Latency: Latency{P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: float64(t.latency.Max()) / 1000},
	}
}

// problem says why the numbers must not be used: not one request ended as it should, or XP was not counted once. Errors
// beside good answers are no problem in this sense; the table shows them.
func (r *Result) problem() error {
	var errs []error
	if r.Total.Requests == 0 && r.Total.Failed() > 0 {
		errs = append(errs, fmt.Errorf("not one request ended as it should: %s", listed(r.Total.Errors)))
	}
	if w := r.Writers; w != nil && w.Requests == 0 {
		errs = append(errs, fmt.Errorf("not one increment beside the pages ended as it should: %s", listed(w.Errors)))
	}
	if r.Verification != nil {
		errs = append(errs, r.Verification.problem())
	}
	return errors.Join(errs...)
}

// listed is "429 (3 times), broken connection (2 times)", the most frequent first.
func listed(errs map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(errs), func(a, b string) int {
		return cmp.Or(cmp.Compare(errs[b], errs[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s times)", name, humanize.Comma(errs[name]))
	}
	return strings.Join(names, ", ")
}
