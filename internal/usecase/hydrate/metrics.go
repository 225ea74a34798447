package hydrate

import "github.com/prometheus/client_golang/prometheus"

var (
	wentBack = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_redis_went_back_total",
		Help: "Guilds found older in Redis than in the archive, and loaded again.",
	})
	hydrations = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_hydrations_total",
		Help: "Guilds loaded from the archive into Redis.",
	})
	hydrationDuration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "levelboard_hydration_duration_seconds",
		Help:    "Time to load one guild from the archive into Redis, of loads that succeeded.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	})
)

// Collectors are the metrics of this package.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{wentBack, hydrations, hydrationDuration}
}
