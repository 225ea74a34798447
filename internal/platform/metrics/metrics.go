package metrics

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// NewRegistry returns a registry with the metrics of the Go runtime and the process,
// and build_info. It is not the global registry, since libraries add metrics to that.
func NewRegistry(version string) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "levelboard_build_info",
		Help:        "Always 1; the labels say which build is running.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": runtime.Version()},
	})
	build.Set(1)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build)
	return registry
}

// NewGauge returns a gauge.
func NewGauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

// NewCounter returns a counter.
func NewCounter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// NewCounterVec returns counters with one label. It creates the series of all
// values at once, so that Prometheus sees the first event of each as an increase.
func NewCounterVec(name, help, label string, values ...string) *prometheus.CounterVec {
	counters := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	for _, value := range values {
		counters.WithLabelValues(value)
	}
	return counters
}

// Handler serves the registry.
func Handler(registry *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Shared caches an answer that costs a round trip, and serves it to all scrapes for a short time. It is safe for concurrent use.
type Shared[T any] struct {
	ask       func(ctx context.Context) T
	limit     time.Duration
	freshness time.Duration
	now       func() time.Time

	mu    sync.Mutex
	asked time.Time // zero before the first answer
	last  T
}

// SharedOptions are the settings of a Shared; all are required.
type SharedOptions struct {
	Limit     time.Duration    // bounds one call of ask
	Freshness time.Duration    // how long its answer serves other scrapes
	Now       func() time.Time // the clock
}

// NewShared returns a Shared that asks by calling ask, from one goroutine at a time, and only within Get.
func NewShared[T any](ask func(ctx context.Context) T, o SharedOptions) *Shared[T] {
	return &Shared[T]{ask: ask, limit: o.Limit, freshness: o.Freshness, now: o.Now}
}

// Get returns an answer that is at most Freshness old, and calls ask if there is none.
func (s *Shared[T]) Get() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked.IsZero() && s.now().Sub(s.asked) < s.freshness {
		return s.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	s.last = s.ask(ctx)
	s.asked = s.now()
	return s.last
}
