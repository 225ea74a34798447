package redisconn

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/fault"
)

const (
	// infoTime bounds how long a scrape waits for Redis' state.
	infoTime = time.Second
	// infoFreshness is how long that state serves other scrapes.
	infoFreshness = 3 * time.Second
)

// condition is a server's state, by the keys of conditionMetrics; nil without an answer. Unknown values are missing: the embedded Redis only
// reports that it is up.
type condition map[string]float64

var redisUp = prometheus.NewDesc("levelboard_redis_up", "1 if Redis answered when it was last asked, else 0.", nil, nil)

var persistence = prometheus.NewDesc("levelboard_redis_persistence",
	"1 if Redis keeps its data on disk in this way, else 0: rdb (dumps), aof (a log of changes).", []string{"kind"}, nil)

var conditionMetrics = []struct {
	key    string
	kind   prometheus.ValueType
	desc   *prometheus.Desc
	labels []string
}{
	{"used_memory", prometheus.GaugeValue, prometheus.NewDesc("levelboard_redis_memory_used_bytes",
		"Memory that Redis uses for its data, as it tells.", nil, nil), nil},
	{"maxmemory", prometheus.GaugeValue, prometheus.NewDesc("levelboard_redis_memory_max_bytes",
		"Memory that Redis may use for its data (maxmemory); 0 is no maximum.", nil, nil), nil},
	{"evicted_keys", prometheus.CounterValue, prometheus.NewDesc("levelboard_redis_evicted_keys_total",
		"Keys that Redis dropped for want of memory since it started. Each may be a guild's unsaved changes.", nil, nil), nil},
	{"changes", prometheus.GaugeValue, prometheus.NewDesc("levelboard_redis_takes_changes",
		"0 if Redis answers reads and refuses changes (its memory is full, it cannot write to its disk, has too few replicas or is one), else 1.", nil, nil), nil},
	{"rdb", prometheus.GaugeValue, persistence, []string{"rdb"}},
	{"aof", prometheus.GaugeValue, persistence, []string{"aof"}},
	{"saved", prometheus.GaugeValue, prometheus.NewDesc("levelboard_redis_persistence_ok",
		"0 if Redis could not write its last dump, or its log of changes, to disk, else 1.", nil, nil), nil},
}

func (c condition) collect(out chan<- prometheus.Metric) {
	out <- prometheus.MustNewConstMetric(redisUp, prometheus.GaugeValue, oneIf(c != nil))
	for _, m := range conditionMetrics {
		if value, known := c[m.key]; known {
			out <- prometheus.MustNewConstMetric(m.desc, m.kind, value, m.labels...)
		}
	}
}

func oneIf(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

// condition asks the server, or all masters of a cluster.
func (c *Client) condition(ctx context.Context) condition {
	told, _ := gather(ctx, c, func(n *node) (condition, error) { return n.condition(ctx), nil })
	return mergeConditions(told)
}

func (n *node) condition(ctx context.Context) condition {
	var info *redis.StringCmd
	var save *redis.MapStringStringCmd
	var write *redis.Cmd
	_, err := n.Pipelined(ctx, func(p redis.Pipeliner) error {
		info = p.Info(ctx, "memory", "stats", "persistence")
		save = p.ConfigGet(ctx, "save")
		write = p.Eval(ctx, writing, nil)
		return nil
	})
	if !answered(err) {
		return nil
	}
	c, fields := condition{}, fieldsOf(info.Val())
	for _, name := range []string{"used_memory", "maxmemory", "evicted_keys"} {
		if value, err := strconv.ParseFloat(fields[name], 64); err == nil {
			c[name] = value
		}
	}
	if refused := fault.ChangesRefused(write.Err()) != ""; refused || write.Err() == nil {
		c["changes"] = oneIf(!refused)
	}
	if dumps, known := save.Val()["save"]; known { // many hosted servers forbid CONFIG
		c["rdb"] = oneIf(dumps != "")
	}
	if aof, known := fields["aof_enabled"]; known {
		c["aof"] = oneIf(aof == "1")
	}
	if dump, known := fields["rdb_last_bgsave_status"]; known {
		aof := fields["aof_last_write_status"]
		c["saved"] = oneIf(dump == "ok" && (aof == "ok" || aof == ""))
	}
	return c
}

// mergeConditions merges the masters of a cluster. The cluster is up if all masters are, its memory is that of the fullest, its evicted keys are
// the sum, and it persists by the means that all of them have.
func mergeConditions(told []condition) (all condition) {
	for _, one := range told {
		if one == nil {
			return nil // without this master, the numbers would look good
		}
		if all == nil {
			all = maps.Clone(one)
			continue
		}
		fuller := one.fullness() > all.fullness()
		for key, value := range one {
			known, there := all[key]
			switch {
			case key == "evicted_keys":
				all[key] = known + value
			case key == "used_memory" || key == "maxmemory":
				if fuller {
					all[key] = value
				}
			case !there || value < known:
				all[key] = value
			}
		}
	}
	return all
}

// fullness returns the used share of the memory. Without a maximum it returns a tiny number that grows with the use.
func (c condition) fullness() float64 {
	if most := c["maxmemory"]; most > 0 {
		return c["used_memory"] / most
	}
	return c["used_memory"] / (1 << 60)
}

// EvictionPolicy returns the maxmemory-policy by which Redis drops keys when its memory is full; in a cluster, that of any master with one. It is
// "" when Redis drops none or does not tell.
func (c *Client) EvictionPolicy(ctx context.Context) (policy string) {
	told, _ := c.infos(ctx, "memory")
	for _, memory := range told {
		if one := memory["maxmemory_policy"]; one != "" && one != "noeviction" {
			policy = one
		}
	}
	return policy
}

// KeepsNoLog reports whether Redis has no append-only file; in a cluster, whether any master has none. It is false when Redis does not tell.
func (c *Client) KeepsNoLog(ctx context.Context) bool {
	told, _ := c.infos(ctx, "persistence")
	return slices.ContainsFunc(told, func(fields map[string]string) bool { return fields["aof_enabled"] == "0" })
}

// infos returns a section of INFO of each master.
func (c *Client) infos(ctx context.Context, section string) ([]map[string]string, error) {
	return gather(ctx, c, func(n *node) (map[string]string, error) {
		info, err := n.Info(ctx, section).Result()
		return fieldsOf(info), err
	})
}

// fieldsOf reads the lines of INFO.
func fieldsOf(info string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			fields[name] = value
		}
	}
	return fields
}
