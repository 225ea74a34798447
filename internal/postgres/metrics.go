package postgres

import "github.com/prometheus/client_golang/prometheus"

var poolConnections = prometheus.NewDesc("levelboard_archive_pool_connections", "Connections to the archive.", []string{"state"}, nil)

// Collector is the metric of the archive's connections, levelboard_archive_pool_connections{state}, with the states
// in_use and idle.
func (a *Archive) Collector() prometheus.Collector { return collector{a} }

type collector struct{ a *Archive }

// Describe implements prometheus.Collector.
func (c collector) Describe(descs chan<- *prometheus.Desc) { descs <- poolConnections }

// Collect implements prometheus.Collector.
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	stat := c.a.pool.Stat()
	metrics <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, float64(stat.AcquiredConns()), "in_use")
	metrics <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, float64(stat.IdleConns()), "idle")
}
