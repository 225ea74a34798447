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

// NewRegistry returns a registry with the Go runtime's and the process's metrics and build_info. It is not the global one, to which libraries
// add metrics by themselves.
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

// NewCounterVec returns counters by one label. It creates those of values at once, so that the first event of each is an increase.
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

// Shared caches the answer to a question that costs a round trip, for all scrapes of a short time. It is safe for concurrent
// use.
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
	Limit     time.Duration    // how long one question may take
	Freshness time.Duration    // how long its answer serves others
	Now       func() time.Time // the clock
}

// NewShared returns a Shared that asks by calling ask, from one goroutine at a time, and only within Get.
func NewShared[T any](ask func(ctx context.Context) T, o SharedOptions) *Shared[T] {
	return &Shared[T]{ask: ask, limit: o.Limit, freshness: o.Freshness, now: o.Now}
}

// Get returns an answer not older than the freshness, and asks if need be.
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
