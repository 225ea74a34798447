package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/platform/metrics"
	"levelboard/internal/usecase/snapshot"
)

const (
	// askTime bounds how long a scrape waits for the archive's sign of life.
	askTime = time.Second
	// askFreshness is for how long that is shown to other scrapes.
	askFreshness = 3 * time.Second
)

var (
	archiveUp   = prometheus.NewDesc("levelboard_archive_up", "1 if the archive answered when it was last asked, else 0.", nil, nil)
	archivePool = prometheus.NewDesc("levelboard_archive_pool_connections", "Connections to the archive.", []string{"state"}, nil)
)

// archiveMetrics are the metrics of an archive, whichever it is.
type archiveMetrics struct {
	archive  archive
	duration *prometheus.HistogramVec
	errors   *prometheus.CounterVec
	up       *metrics.Shared[bool]
}

func newArchiveMetrics(a archive) *archiveMetrics {
	return &archiveMetrics{
		archive: a,
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "levelboard_archive_query_duration_seconds",
			Help:    "Time that a caller waited for an operation on the archive, the wait for a connection included.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "levelboard_archive_query_errors_total",
			Help: "Operations on the archive that were not answered, or with an error. That something does not exist, or has moved on, is no error.",
		}, []string{"operation"}),
		up: metrics.NewShared(func(ctx context.Context) bool { return a.Ping(ctx) == nil },
			metrics.SharedOptions{Limit: askTime, Freshness: askFreshness, Now: time.Now}),
	}
}

// Describe implements prometheus.Collector.
func (m *archiveMetrics) Describe(descs chan<- *prometheus.Desc) {
	m.duration.Describe(descs)
	m.errors.Describe(descs)
	descs <- archiveUp
	descs <- archivePool
}

// Collect implements prometheus.Collector. It asks the archive for a sign of life, at most every few seconds.
func (m *archiveMetrics) Collect(out chan<- prometheus.Metric) {
	m.duration.Collect(out)
	m.errors.Collect(out)
	up := 0.0
	if m.up.Get() {
		up = 1
	}
	out <- prometheus.MustNewConstMetric(archiveUp, prometheus.GaugeValue, up)
	inUse, idle := m.archive.Connections()
	out <- prometheus.MustNewConstMetric(archivePool, prometheus.GaugeValue, float64(inUse), "in_use")
	out <- prometheus.MustNewConstMetric(archivePool, prometheus.GaugeValue, float64(idle), "idle")
}

// answers are what an archive says when it is well and something is not as it was thought to be. That a caller went away
// is nothing of the archive's either.
var answers = []error{
	guild.ErrNotFound, guild.ErrVanityTaken, guild.ErrChanged, apikey.ErrNotFound, apikey.ErrTooMany, apikey.ErrExpired,
	snapshot.ErrLeaseLost, snapshot.ErrStale, snapshot.ErrBadRow, context.Canceled,
}

// record counts one operation.
func (m *archiveMetrics) record(operation string, began time.Time, err error) {
	m.duration.WithLabelValues(operation).Observe(time.Since(began).Seconds())
	failures := m.errors.WithLabelValues(operation) // there from the first operation on, so that the first failure is an increase
	if isFailure(err) {
		failures.Inc()
	}
}

func isFailure(err error) bool {
	return err != nil && !slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) })
}
