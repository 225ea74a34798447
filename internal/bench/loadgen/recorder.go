package loadgen

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// latencyDigits is how many significant digits a latency keeps.
	latencyDigits = 3
	// maxLatency is the longest latency that can be told apart; answerTime is below it.
	maxLatency = time.Minute
)

// tally counts what became of an operation's requests. Its memory is fixed: 140 KB.
type tally struct {
	latency *hdrhistogram.Histogram // microseconds, of those that ended as they should
	errors  map[string]int64        // by the status, or by what came instead of an answer
}

func newTally() *tally {
	return &tally{hdrhistogram.New(1, maxLatency.Microseconds(), latencyDigits), map[string]int64{}}
}

func (t *tally) merge(other *tally) {
	t.latency.Merge(other.latency)
	for name, n := range other.errors {
		t.errors[name] += n
	}
}

// recorder collects from all connections while they run.
type recorder struct {
	mu      sync.Mutex
	tallies []*tally // by operation; to be read when the connections have ended
}

func newRecorder(operations int) *recorder {
	r := &recorder{}
	for range operations {
		r.tallies = append(r.tallies, newTally())
	}
	return r
}

func (r *recorder) succeeded(operation int, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.tallies[operation].latency.RecordValue(min(max(took.Microseconds(), 1), maxLatency.Microseconds()))
}

func (r *recorder) failed(operation int, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tallies[operation].errors[why]++
}

// count returns how many requests ended until now as they should, and how many not.
func (r *recorder) count() (succeeded, failed int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tallies {
		succeeded += t.latency.TotalCount()
		failed += sum(t.errors)
	}
	return succeeded, failed
}

func sum(counts map[string]int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}
