package periods

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/domain/period"
)

var periodsClosed = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "levelboard_periods_closed_total",
	Help: "Periods of guilds that this replica has closed, by kind. Days close in all guilds that count gains.",
}, []string{"kind"})

func init() {
	for _, kind := range period.Kinds {
		periodsClosed.WithLabelValues(string(kind)) // create the series now, so that Prometheus sees the first event as an increase
	}
}

var closeLag = prometheus.NewDesc("levelboard_period_close_lag_seconds",
	"Time since the end of the oldest period that has not closed, in any guild; 0 if there is none. Only the replica that holds the lease reports it.", nil, nil)

// Collectors returns the metrics of this package.
func (c *Closer) Collectors() []prometheus.Collector {
	return []prometheus.Collector{periodsClosed, lagCollector{c}}
}

type lagCollector struct{ *Closer }

func (c lagCollector) Describe(descs chan<- *prometheus.Desc) { descs <- closeLag }

func (c lagCollector) Collect(metrics chan<- prometheus.Metric) {
	if _, held := c.lease(); !held {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	lag := time.Duration(0)
	for _, since := range c.overdue {
		lag = max(lag, time.Since(since))
	}
	metrics <- prometheus.MustNewConstMetric(closeLag, prometheus.GaugeValue, lag.Seconds())
}
