package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/platform/metrics"
	"levelboard/internal/store"
)

const (
	// askTime bounds how long a scrape waits for a ping of the archive.
	askTime = time.Second
	// askFreshness is how long other scrapes reuse the answer.
	askFreshness = 3 * time.Second
)

// queryMetrics count and time the queries of Postgres.
type queryMetrics struct {
	duration *prometheus.HistogramVec
	errors   *prometheus.CounterVec
}

func newQueryMetrics() queryMetrics {
	return queryMetrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "levelboard_archive_query_duration_seconds",
			Help:    "Time of a Postgres query, by its operation; wait_for_connection is the wait for a connection.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
		errors: metrics.NewCounterVec("levelboard_archive_query_errors_total",
			"Postgres queries without an answer or with an error. A rejected value is no error.", "operation"),
	}
}

// record counts one query.
func (m queryMetrics) record(operation string, began time.Time, err error) {
	m.duration.WithLabelValues(operation).Observe(time.Since(began).Seconds())
	failures := m.errors.WithLabelValues(operation) // create the series with the first query, so that Prometheus sees the first failure as an increase
	if err != nil {
		failures.Inc()
	}
}

// collectors returns the metrics of an archive. Scrapes ping the archive at most every few seconds.
func (m queryMetrics) collectors(a store.Archive) []prometheus.Collector {
	up := metrics.NewShared(func(ctx context.Context) float64 {
		if a.Ping(ctx) != nil {
			return 0
		}
		return 1
	}, metrics.SharedOptions{Limit: askTime, Freshness: askFreshness, Now: time.Now})
	connections := func(state string, count func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "levelboard_archive_pool_connections", Help: "Connections to the archive.", ConstLabels: prometheus.Labels{"state": state},
		}, func() float64 { return float64(count()) })
	}
	return []prometheus.Collector{
		m.duration, m.errors,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "levelboard_archive_up", Help: "1 if the archive answered when it was last asked, else 0."}, up.Get),
		connections("in_use", func() int { inUse, _ := a.Connections(); return inUse }),
		connections("idle", func() int { _, idle := a.Connections(); return idle }),
	}
}
