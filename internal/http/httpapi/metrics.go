package httpapi

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/platform/metrics"
)

var (
	requestDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "levelboard_http_request_duration_seconds",
		Help:    "Time from the first byte of a request's headers to the end of its answer.",
		Buckets: []float64{.0005, .001, .002, .003, .005, .0075, .01, .02, .03, .05, .1, .25, .5, 1, 2.5, 5},
		// For a Prometheus that accepts native histograms: neighbouring buckets differ by 10 %.
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  160,
		NativeHistogramMinResetDuration: time.Hour,
	}, []string{"route", "method", "status"})
	requestSize  = sizes("levelboard_http_request_size_bytes", "Bytes of the bodies of requests, as far as they were announced.")
	responseSize = sizes("levelboard_http_response_size_bytes", "Bytes of the bodies of answers.")

	requestsInFlight = metrics.NewGauge("levelboard_http_requests_in_flight",
		"Requests that are being worked on.")
	turnedAway = metrics.NewCounter("levelboard_http_requests_turned_away_total",
		"Requests to /v2 that were refused with 503 because too many were being worked on.")
	pageRequests = metrics.NewCounterVec("levelboard_page_cache_requests_total",
		"Requests for leaderboard pages: hit (from memory), miss (read from Redis), shared (read once for several requests), not_modified (304).", "outcome", pageHit, pageMiss, pageShared, pageNotModified)
	messagesAwarded = metrics.NewCounterVec("levelboard_messages_total",
		"Messages by outcome: gained (XP), cooldown (none, since the author was in a cooldown), nothing (worth nothing, or the author has the maximum XP). Repeats are not counted again.", "outcome", "gained", "cooldown", "nothing")
	xpAwarded = metrics.NewCounter("levelboard_xp_awarded_total",
		"XP that messages gave.")
	levelUps = metrics.NewCounter("levelboard_level_ups_total",
		"Messages that brought their author to a higher level.")
	replays = metrics.NewCounter("levelboard_idempotent_replays_total",
		"Repeated requests with an Idempotency-Key, which were answered with their first outcome.")
	streamsOpen = metrics.NewGauge("levelboard_event_streams_open",
		"Streams of events and of watched pages that are open.")
	eventsSent = metrics.NewCounter("levelboard_events_sent_total",
		"Events sent on streams; an event counts once for each stream.")
	streamsDropped = metrics.NewCounter("levelboard_event_streams_dropped_total",
		"Streams of events ended because their clients read too slowly.")
)

// Outcomes of a request for a page.
const (
	pageHit         = "hit"
	pageMiss        = "miss"
	pageShared      = "shared"
	pageNotModified = "not_modified"
)

// Collectors returns the metrics of this package.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{requestDuration, requestSize, responseSize, requestsInFlight, turnedAway, pageRequests, messagesAwarded, xpAwarded, levelUps, replays, streamsOpen, eventsSent, streamsDropped}
}

func sizes(name, help string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(64, 4, 8), // to 1 MiB
	}, []string{"route"})
}
