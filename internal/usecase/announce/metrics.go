package announce

import (
	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/domain/announcement"
)

// The outcomes of posts.
const (
	sent        = "sent"
	retried     = "retried" // a try that failed, before another one
	dropped     = "dropped" // after the last try, or refused as it is
	expired     = "expired" // older than 15 minutes
	switchedOff = "off"     // the webhook is gone
)

var posts = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "levelboard_announcements_total",
	Help: "Posts of announcements by this replica, by kind and outcome: sent, retried (a try that failed, before the next), dropped, " +
		"expired (older than 15 minutes), off (the webhook is gone).",
}, []string{"kind", "outcome"})

var lag = prometheus.NewHistogram(prometheus.HistogramOpts{
	Name:    "levelboard_announcement_lag_seconds",
	Help:    "Time from an event to its post, of those that were taken.",
	Buckets: []float64{0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900},
})

func init() {
	for _, kind := range []announcement.Kind{announcement.Discord, announcement.Webhook, announcement.Board} {
		for _, outcome := range []string{sent, retried, dropped, expired, switchedOff} {
			posts.WithLabelValues(string(kind), outcome) // so that the first one is an increase
		}
	}
}

func count(kind announcement.Kind, outcome string) {
	posts.WithLabelValues(string(kind), outcome).Inc()
}

// Collectors are the metrics of this package.
func Collectors() []prometheus.Collector { return []prometheus.Collector{posts, lag} }
