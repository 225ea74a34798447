package ratelimit

import "github.com/prometheus/client_golang/prometheus"

// metrics count decisions by scope.
type metrics struct {
	outcome *prometheus.CounterVec
	used    *prometheus.HistogramVec
}

func newMetrics() metrics {
	m := metrics{
		outcome: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "levelboard_rate_limit_requests_total",
			Help: "Requests by the scope of a budget and its outcome; a limited request is counted for the budget that refused it only.",
		}, []string{"scope", "outcome"}),
		used: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "levelboard_rate_limit_used_ratio",
			Help:    "Share of the budget that was in use after a request was decided, for the budget that its answer shows.",
			Buckets: []float64{.1, .25, .5, .75, .9, .95, 1},
		}, []string{"scope"}),
	}
	for scope := range letters {
		m.outcome.WithLabelValues(scope, "allowed")
		m.outcome.WithLabelValues(scope, "limited")
		m.used.WithLabelValues(scope)
	}
	return m
}

// Describe implements prometheus.Collector.
func (m metrics) Describe(ch chan<- *prometheus.Desc) {
	m.outcome.Describe(ch)
	m.used.Describe(ch)
}

// Collect implements prometheus.Collector.
func (m metrics) Collect(ch chan<- prometheus.Metric) {
	m.outcome.Collect(ch)
	m.used.Collect(ch)
}

// count counts a decision about these budgets.
func (m metrics) count(d Decision, charged []Budget) {
	m.used.WithLabelValues(d.Scope).Observe(1 - float64(d.Remaining)/float64(d.Limit))
	if !d.Allowed {
		m.outcome.WithLabelValues(d.Scope, "limited").Inc()
		return
	}
	for _, b := range charged {
		m.outcome.WithLabelValues(b.Scope, "allowed").Inc()
	}
}
