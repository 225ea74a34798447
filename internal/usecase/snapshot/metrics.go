package snapshot

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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
		Help: "Guilds that could not be written to the archive in a round, and rounds that could not begin because the archive did not answer. The next round retries them.",
	})
	badMembers = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "levelboard_snapshot_bad_members_total",
		Help: "Changed members that could not be archived unchanged: mended (a part was unreadable in Redis) and refused (not archived).",
	}, []string{"outcome"})
	archiveWentBack = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_archive_went_back_total",
		Help: "Guilds written to the archive again because it had lost their committed changes.",
	})
	evicted = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_guilds_evicted_total",
		Help: "Guilds evicted from Redis because they were unused for LEVELBOARD_GUILD_IDLE.",
	})
	leasesLost = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_snapshot_leases_lost_total",
		Help: "Times that the snapshot lease passed to another replica while this one held it.",
	})
)

func init() {
	for _, outcome := range []string{"mended", "refused"} {
		badMembers.WithLabelValues(outcome) // create the series now, so that Prometheus sees the first event as an increase
	}
}

// Collectors returns the metrics of this package. Writer.Collector has more.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{duration, members, failures, badMembers, archiveWentBack, evicted, leasesLost}
}

// backlogTime bounds how long a scrape waits for the live store.
const backlogTime = time.Second

var (
	backlogMembers = prometheus.NewDesc("levelboard_snapshot_backlog_members",
		"Members that have changed since they were last archived.", nil, nil)
	oldestUnsaved = prometheus.NewDesc("levelboard_snapshot_oldest_unsaved_seconds",
		"Age of the oldest change that is not archived; 0 when there is none.", nil, nil)
	leaseHeld = prometheus.NewDesc("levelboard_snapshot_lease_held",
		"1 while this replica holds the lease and writes the snapshots, else 0.", nil, nil)
	guildsLoaded = prometheus.NewDesc("levelboard_guilds_loaded",
		"Guilds in Redis by the last sweep of the snapshot writer. Only the replica that holds the lease reports it.", nil, nil)
)

// Collector returns the state of the lease, and the backlog, which each scrape reads from the live store. If that does not
// answer, the backlog has no values. Only the writer's own replica counts guilds that the writer has taken out of the index.
func (w *Writer) Collector() prometheus.Collector { return writerCollector{w} }

type writerCollector struct{ *Writer }

func (c writerCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{backlogMembers, oldestUnsaved, leaseHeld, guildsLoaded} {
		descs <- desc
	}
}

func (c writerCollector) Collect(metrics chan<- prometheus.Metric) {
	held := 0.0
	if c.lease.Held() {
		held = 1
		if loaded := c.loaded.Load(); loaded != nil {
			metrics <- prometheus.MustNewConstMetric(guildsLoaded, prometheus.GaugeValue, float64(*loaded))
		}
	}
	metrics <- prometheus.MustNewConstMetric(leaseHeld, prometheus.GaugeValue, held)
	c.collectBacklog(metrics)
}

func (c writerCollector) collectBacklog(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTime)
	defer cancel()
	b, err := c.live.Backlog(ctx, *c.underway.Load())
	if err != nil {
		return
	}
	metrics <- prometheus.MustNewConstMetric(backlogMembers, prometheus.GaugeValue, float64(b.Members))
	metrics <- prometheus.MustNewConstMetric(oldestUnsaved, prometheus.GaugeValue, b.Oldest.Seconds())
}
