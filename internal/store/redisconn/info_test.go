package redisconn_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
)

// told returns the metrics of a new registry with their labels, without those of scripts and connections.
func told(t *testing.T, url string) map[string]float64 {
	t.Helper()
	client, err := redisconn.Connect(url, redisconn.ConnectOptions{})
	ok(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return toldBy(t, client)
}

func toldBy(t *testing.T, client *redisconn.Client) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(client.Metrics())
	families, err := registry.Gather()
	ok(t, err)
	values := map[string]float64{}
	for _, family := range families {
		name := strings.TrimPrefix(family.GetName(), "levelboard_redis_")
		if strings.HasPrefix(name, "script_") || strings.HasPrefix(name, "pool_") || strings.HasPrefix(name, "pipeline_") {
			continue
		}
		for _, m := range family.GetMetric() {
			full := name
			for _, l := range m.GetLabel() {
				full += " " + l.GetValue()
			}
			values[full] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return values
}

func wantTold(t *testing.T, got, want map[string]float64) {
	t.Helper()
	if got["memory_used_bytes"] < 100_000 {
		t.Errorf("the metric of used memory is %g bytes, want at least 100000", got["memory_used_bytes"])
	}
	delete(got, "memory_used_bytes")
	if !maps.Equal(got, want) {
		t.Errorf("the metrics are %v, want %v", got, want)
	}
}

func TestMetricsOfARedisServer(t *testing.T) {
	server := testenv.Redis(t, testenv.WithConfig("maxmemory 100mb", `save ""`), testenv.WithPassword("p@ss"))
	wantTold(t, told(t, server.URL()), map[string]float64{
		"up": 1, "memory_max_bytes": 100 << 20, "evicted_keys_total": 0, "persistence rdb": 0, "persistence aof": 0, "persistence_ok": 1, "takes_changes": 1,
	})
	client := connect(t, server.URL())
	ok(t, client.ConfigSet(t.Context(), "appendonly", "yes").Err())
	ok(t, client.ConfigSet(t.Context(), "save", "3600 1").Err())
	ok(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	wantTold(t, told(t, server.URL()), map[string]float64{
		"up": 1, "memory_max_bytes": 0, "evicted_keys_total": 0, "persistence rdb": 1, "persistence aof": 1, "persistence_ok": 1, "takes_changes": 1,
	})
}

func TestEvictedKeysAreCounted(t *testing.T) {
	server := testenv.Redis(t, testenv.WithConfig("maxmemory 3mb", "maxmemory-policy allkeys-random"))
	client := connect(t, server.URL())
	for i := range 500 {
		ok(t, client.Set(t.Context(), fmt.Sprint(i), strings.Repeat("x", 10_000), 0).Err())
	}
	if got := told(t, server.URL()); got["evicted_keys_total"] < 1 {
		t.Errorf("the metrics are %v, want evicted keys", got)
	}
}

// A server that forbids CONFIG still gives the other metrics.
func TestMetricsWithoutTheRightToConfig(t *testing.T) {
	server := testenv.Redis(t, testenv.WithConfig(`rename-command CONFIG ""`))
	got := told(t, server.URL())
	if _, known := got["persistence rdb"]; known || got["up"] != 1 || got["memory_used_bytes"] == 0 {
		t.Errorf("the metrics are %v, want no persistence, up 1 and the memory", got)
	}
}

func TestTheEmbeddedRedisIsUp(t *testing.T) {
	server, err := embedded.StartRedis()
	ok(t, err)
	t.Cleanup(server.Close)
	if got := told(t, server.URL()); !maps.Equal(got, map[string]float64{"up": 1}) {
		t.Errorf("the metrics are %v, want only up 1", got)
	}
}

func TestARedisThatIsDownHasUp0(t *testing.T) {
	server := testenv.Redis(t)
	server.Kill()
	if got := told(t, server.URL()); !maps.Equal(got, map[string]float64{"up": 0}) {
		t.Errorf("the metrics are %v, want only up 0", got)
	}
}

func TestFailuresOfScriptsAreCounted(t *testing.T) {
	server := testenv.Redis(t)
	client, err := redisconn.Connect(server.URL(), redisconn.ConnectOptions{})
	ok(t, err)
	t.Cleanup(func() { _ = client.Close() })
	metrics := client.Metrics()
	s := newBoard(client)
	load(t, s, row(user1))
	failures := func() map[string]float64 {
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(metrics)
		families, err := registry.Gather()
		ok(t, err)
		found := map[string]float64{}
		for _, family := range families {
			if family.GetName() == "levelboard_redis_script_errors_total" {
				for _, m := range family.GetMetric() {
					found[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
		return found
	}
	if _, err := s.Member(t.Context(), guild1, "300000000000000099"); err == nil { // no failure
		t.Fatal("a member without an entry was found")
	}
	if got := failures(); got["member"] != 0 || len(got) < 15 {
		t.Errorf("the failures are %v, want 0 for each script", got)
	}
	server.Kill()
	if _, err := s.Change(t.Context(), guild1, user1, plusOne); err == nil {
		t.Fatal("a change on a stopped server succeeded")
	}
	if got := failures(); got["change"] != 1 || got["member"] != 0 {
		t.Errorf("the failures are %v, want 1 of change", got)
	}
}

// A cluster is up if all its masters are. Its memory is the fullest one's, and it persists by the means that all of them have.
func TestMetricsOfACluster(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	key := "of one master"
	full := c.Owner(c.SlotOf(key))
	ok(t, c.client.Set(t.Context(), key, strings.Repeat("x", 10<<20), 0).Err())
	for _, node := range append(c.Masters, c.Replicas...) { // on a busy machine a replica may be promoted
		c.ask(node, "CONFIG", "SET", "maxmemory", "100mb")
		c.ask(node, "CONFIG", "SET", "appendonly", "yes")
	}
	c.ask(full, "CONFIG", "SET", "save", "3600 1")
	var got map[string]float64
	testenv.Wait(t, "every master tells, and the fullest one what it uses", func() bool {
		got = toldBy(t, c.client)
		return got["memory_used_bytes"] >= 10<<20 && got["takes_changes"] == 1
	})
	wantTold(t, got, map[string]float64{
		"up": 1, "memory_max_bytes": 100 << 20, "evicted_keys_total": 0, "persistence rdb": 0, "persistence aof": 1, "persistence_ok": 1, "takes_changes": 1,
	})
}
