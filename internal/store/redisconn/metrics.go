package redisconn

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/platform/metrics"
)

// scriptMetrics are the metrics of scripts on all nodes of a client.
type scriptMetrics struct {
	duration *prometheus.HistogramVec
	errors   *prometheus.CounterVec
	sent     prometheus.Histogram // calls of each batch of a queue
}

func newScriptMetrics() *scriptMetrics {
	m := &scriptMetrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "levelboard_redis_script_duration_seconds",
			Help: "Time that a caller waited for a Redis script, the wait for a connection included.",
			// 100 microseconds to 1.6 seconds, which is past the default timeout.
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 15),
		}, []string{"script"}),
		errors: metrics.NewCounterVec("levelboard_redis_script_errors_total",
			"Redis scripts that were not answered, or with an error. A script's refusal is no error.", "script"),
		sent: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "levelboard_redis_pipeline_commands",
			Help:    "Small calls of concurrent requests that were sent to Redis together.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 7), // to batchCalls
		}),
	}
	for _, sc := range scripts {
		m.errors.WithLabelValues(sc.name) // create the series, so that the first error is an increase
	}
	return m
}

// observe records one caller's wait. A cancelled request is no error of the script.
func (m *scriptMetrics) observe(sc *Script, d time.Duration, err error) {
	m.duration.WithLabelValues(sc.name).Observe(d.Seconds())
	if err != nil && refusalWord(err) == "" && !errors.Is(err, context.Canceled) {
		m.errors.WithLabelValues(sc.name).Inc()
	}
}

var (
	poolConnections = prometheus.NewDesc("levelboard_redis_pool_connections", "Connections to Redis.", []string{"state"}, nil)
	waitingCalls    = prometheus.NewDesc("levelboard_redis_pipeline_waiting", "Small calls that wait to be sent to Redis with the next ones.", nil, nil)
)

// Metrics returns the client's metrics: the time and the errors of scripts, connections, waiting small calls, and the server's state. Register it
// once.
func (c *Client) Metrics() prometheus.Collector {
	return &collector{c, metrics.NewShared(c.condition, metrics.SharedOptions{Limit: infoTime, Freshness: infoFreshness, Now: time.Now})}
}

type collector struct {
	client *Client
	server *metrics.Shared[condition]
}

// Describe implements prometheus.Collector.
func (m *collector) Describe(descs chan<- *prometheus.Desc) {
	m.client.metrics.duration.Describe(descs)
	m.client.metrics.errors.Describe(descs)
	m.client.metrics.sent.Describe(descs)
	descs <- poolConnections
	descs <- waitingCalls
	descs <- redisUp
	for _, m := range conditionMetrics {
		descs <- m.desc
	}
}

// Collect implements prometheus.Collector. It asks the server for its state at most every few seconds.
func (m *collector) Collect(out chan<- prometheus.Metric) {
	m.client.metrics.duration.Collect(out)
	m.client.metrics.errors.Collect(out)
	m.client.metrics.sent.Collect(out)
	stats := m.client.PoolStats()
	idle := float64(stats.IdleConns)
	out <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, idle, "idle")
	out <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, max(float64(stats.TotalConns)-idle, 0), "in_use")
	waiting := 0
	for _, n := range m.client.nodes() {
		waiting += n.quick.length() + n.slow.length()
	}
	out <- prometheus.MustNewConstMetric(waitingCalls, prometheus.GaugeValue, float64(waiting))
	m.server.Get().collect(out)
}
