package redisstore

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// Metrics are the live store's metrics, for one registry: levelboard_redis_script_duration_seconds{script}, and
// levelboard_redis_pool_connections{state} of a client, with the states in_use and idle.
type Metrics struct {
	client   redis.UniversalClient
	duration *prometheus.HistogramVec
	pool     *prometheus.Desc
}

// NewMetrics makes the metrics of a client. Register them, and give Observe to New.
func NewMetrics(client redis.UniversalClient) *Metrics {
	return &Metrics{
		client: client,
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "levelboard_redis_script_duration_seconds",
			Help: "Time that a caller waited for a Redis script, the wait for a connection included.",
			// 100 microseconds to 1.6 seconds: past the timeouts of Connect there is nothing to tell apart.
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 15),
		}, []string{"script"}),
		pool: prometheus.NewDesc("levelboard_redis_pool_connections", "Connections to Redis.", []string{"state"}, nil),
	}
}

// Observe records a script's run; it fits Options.Observe.
func (m *Metrics) Observe(script string, d time.Duration, _ error) {
	m.duration.WithLabelValues(script).Observe(d.Seconds())
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descs chan<- *prometheus.Desc) {
	m.duration.Describe(descs)
	descs <- m.pool
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(metrics chan<- prometheus.Metric) {
	m.duration.Collect(metrics)
	stats := m.client.PoolStats()
	idle := float64(stats.IdleConns)
	metrics <- prometheus.MustNewConstMetric(m.pool, prometheus.GaugeValue, idle, "idle")
	metrics <- prometheus.MustNewConstMetric(m.pool, prometheus.GaugeValue, max(float64(stats.TotalConns)-idle, 0), "in_use")
}
