package redisconn_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/testing/testenv"
)

func TestScriptsAndConnectionsAreCounted(t *testing.T) {
	client := connect(t, testenv.Redis(t).URL())
	metrics := client.Metrics()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics)
	s := newBoard(client)
	load(t, s, row(user1))
	for range 3 {
		_, err := s.Change(t.Context(), guild1, user1, plusOne)
		ok(t, err)
	}
	families, err := registry.Gather()
	ok(t, err)
	changes, pool := uint64(0), map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var label string
			if labels := m.GetLabel(); len(labels) > 0 {
				label = labels[0].GetValue()
			}
			switch family.GetName() {
			case "levelboard_redis_script_duration_seconds":
				if label == "change" {
					changes = m.GetHistogram().GetSampleCount()
				}
			case "levelboard_redis_pool_connections":
				pool[label] = m.GetGauge().GetValue()
			}
		}
	}
	if changes != 3 {
		t.Errorf("%d changes are counted, want 3", changes)
	}
	if len(pool) != 2 || pool["idle"] < 1 || pool["in_use"] != 0 {
		t.Errorf("the pool's metrics are %v, want an idle connection and none in use", pool)
	}
}
