package snapshot

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/id"
)

var (
	duration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "levelboard_snapshot_duration_seconds",
		Help:    "Time that one round of the snapshot writer took, over all guilds with changed members.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	})
	members = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_snapshot_members_total",
		Help: "Members written to the archive.",
	})
	failures = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_snapshot_failures_total",
		Help: "Guilds that could not be written to the archive in a round; they are tried again in the next.",
	})
	badMembers = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "levelboard_snapshot_bad_members_total",
		Help: "Changed members that could not be archived as they are: mended, of which a part was unreadable in Redis, and refused, which the archive did not take.",
	}, []string{"outcome"})
	wentBack = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_redis_went_back_total",
		Help: "Guilds found older in Redis than in the archive, and loaded anew.",
	})
	hydrations = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_hydrations_total",
		Help: "Guilds loaded from the archive into Redis.",
	})
)

// Collectors are the metrics of this package; Writer.Collector has two more.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{duration, members, failures, badMembers, wentBack, hydrations}
}

// backlogTime bounds how long a scrape waits for the live store.
const backlogTime = time.Second

var (
	backlogMembers = prometheus.NewDesc("levelboard_snapshot_backlog_members",
		"Members that have changed since they were last archived.", nil, nil)
	oldestUnsaved = prometheus.NewDesc("levelboard_snapshot_oldest_unsaved_seconds",
		"Age of the oldest change that is not archived; 0 when there is none.", nil, nil)
)

// Collector is the backlog, as the live store tells it at each scrape; without an answer there are no values. Every replica
// tells that of all.
func (w *Writer) Collector() prometheus.Collector { return backlogCollector{w} }

type backlogCollector struct{ *Writer }

func (c backlogCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- backlogMembers
	descs <- oldestUnsaved
}

func (c backlogCollector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTime)
	defer cancel()
	var more []id.Guild
	if underway := c.underway.Load(); underway != nil {
		more = *underway
	}
	b, err := c.live.Backlog(ctx, more)
	if err != nil {
		return
	}
	metrics <- prometheus.MustNewConstMetric(backlogMembers, prometheus.GaugeValue, float64(b.Members))
	metrics <- prometheus.MustNewConstMetric(oldestUnsaved, prometheus.GaugeValue, b.Oldest.Seconds())
}
