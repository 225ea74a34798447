package snapshot

import "github.com/prometheus/client_golang/prometheus"

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
	wentBack = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_redis_went_back_total",
		Help: "Guilds found older in Redis than in the archive, and loaded anew.",
	})
	hydrations = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_hydrations_total",
		Help: "Guilds loaded from the archive into Redis.",
	})
)

// Collectors are the metrics of this package.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{duration, members, failures, wentBack, hydrations}
}
