package httpapi

import "github.com/prometheus/client_golang/prometheus"

var (
	requestDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "levelboard_http_request_duration_seconds",
		Help:    "Time from the first byte of a request's headers to the end of its answer.",
		Buckets: []float64{.0005, .001, .002, .003, .005, .0075, .01, .02, .03, .05, .1, .25, .5, 1, 2.5, 5},
	}, []string{"route", "method", "status"})
	requestsInFlight = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "levelboard_http_requests_in_flight",
		Help: "Requests that are being worked on.",
	})
	turnedAway = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_http_requests_turned_away_total",
		Help: "Requests to /v2 that were refused with 503 because too many were being worked on.",
	})
	pageRequests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "levelboard_page_cache_requests_total",
		Help: "Leaderboard pages asked for: hit (from memory), miss (read from Redis), not_modified (304).",
	}, []string{"outcome"})
	replays = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_idempotent_replays_total",
		Help: "Requests with an Idempotency-Key that had been made before and were answered with their first outcome.",
	})
	streamsOpen = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "levelboard_event_streams_open",
		Help: "Streams of events that are open.",
	})
	eventsSent = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_events_sent_total",
		Help: "Events that were sent on streams, each once for each stream.",
	})
	streamsDropped = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_event_streams_dropped_total",
		Help: "Streams of events that were ended because their clients did not read fast enough.",
	})
)

// Collectors are the metrics of this package.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{requestDuration, requestsInFlight, turnedAway, pageRequests, replays, streamsOpen, eventsSent, streamsDropped}
}
