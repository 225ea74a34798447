package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/platform/metrics"
)

// Metrics are the live store's metrics, for one registry: how long scripts take and how often they fail, the connections of
// a client (in_use and idle), and what the server tells of itself (info.go).
type Metrics struct {
	client   *Client
	duration *prometheus.HistogramVec
	errors   *prometheus.CounterVec
	pool     *prometheus.Desc
	server   *metrics.Shared[condition]
}

// NewMetrics makes the metrics of a client. Register them, and give Observe to New.
func NewMetrics(client *Client) *Metrics {
	m := &Metrics{
		client: client,
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "levelboard_redis_script_duration_seconds",
			Help: "Time that a caller waited for a Redis script, the wait for a connection included.",
			// 100 microseconds to 1.6 seconds: past the timeouts of Connect there is nothing to tell apart.
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 15),
		}, []string{"script"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "levelboard_redis_script_errors_total",
			Help: "Redis scripts that were not answered, or with an error. What a script refuses to do is no error.",
		}, []string{"script"}),
		pool:   prometheus.NewDesc("levelboard_redis_pool_connections", "Connections to Redis.", []string{"state"}, nil),
		server: newCondition(client),
	}
	for _, sc := range scripts {
		m.errors.WithLabelValues(sc.name) // so that the first one is an increase
	}
	return m
}

// Observe records a script's run; it fits Options.Observe. That a caller went away is not the script's error.
func (m *Metrics) Observe(script string, d time.Duration, err error) {
	m.duration.WithLabelValues(script).Observe(d.Seconds())
	if err != nil && refusalWord(err) == "" && !errors.Is(err, context.Canceled) {
		m.errors.WithLabelValues(script).Inc()
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descs chan<- *prometheus.Desc) {
	m.duration.Describe(descs)
	m.errors.Describe(descs)
	descs <- m.pool
	describeCondition(descs)
}

// Collect implements prometheus.Collector. It asks the server how it is, at most every few seconds.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.duration.Collect(out)
	m.errors.Collect(out)
	stats := m.client.PoolStats()
	idle := float64(stats.IdleConns)
	out <- prometheus.MustNewConstMetric(m.pool, prometheus.GaugeValue, idle, "idle")
	out <- prometheus.MustNewConstMetric(m.pool, prometheus.GaugeValue, max(float64(stats.TotalConns)-idle, 0), "in_use")
	m.server.Get().collect(out)
}
