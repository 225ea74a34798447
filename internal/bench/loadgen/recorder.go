package loadgen

import (
	"maps"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// stripes is among how many sets of histograms the connections are spread: few, so that the memory does not grow with
	// the connections, and enough that two seldom meet.
	stripes = 8
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

func (t *tally) failed() (n int64) {
	for count := range maps.Values(t.errors) {
		n += count
	}
	return n
}

// recorder collects from all connections while they run.
type recorder struct {
	stripes [stripes]stripe
}

type stripe struct {
	mu      sync.Mutex
	tallies []*tally // by operation
}

func newRecorder(operations int) *recorder {
	r := &recorder{}
	for i := range r.stripes {
		for range operations {
			r.stripes[i].tallies = append(r.stripes[i].tallies, newTally())
		}
	}
	return r
}

// of is the stripe that a connection writes to.
func (r *recorder) of(connection int) *stripe { return &r.stripes[connection%stripes] }

func (s *stripe) succeeded(operation int, took time.Duration) {
	// A latency beyond the histogram's end is counted as its end.
	value := min(max(took.Microseconds(), 1), maxLatency.Microseconds())
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.tallies[operation].latency.RecordValue(value)
}

func (s *stripe) failed(operation int, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tallies[operation].errors[why]++
}

// totals returns what was recorded until now, by operation.
func (r *recorder) totals() []*tally {
	var merged []*tally
	for i := range r.stripes {
		s := &r.stripes[i]
		s.mu.Lock()
		for operation, t := range s.tallies {
			if operation == len(merged) {
				merged = append(merged, newTally())
			}
			merged[operation].merge(t)
		}
		s.mu.Unlock()
	}
	return merged
}

// count returns how many requests ended until now, and how many of them not as they should. It costs less than totals.
func (r *recorder) count() (succeeded, failed int64) {
	for i := range r.stripes {
		s := &r.stripes[i]
		s.mu.Lock()
		for _, t := range s.tallies {
			succeeded += t.latency.TotalCount()
			failed += t.failed()
		}
		s.mu.Unlock()
	}
	return succeeded, failed
}
