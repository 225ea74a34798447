package redisconn

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

const (
	// infoTime bounds how long a scrape waits for Redis to tell how it is.
	infoTime = time.Second
	// infoFreshness is for how long that is shown to other scrapes.
	infoFreshness = 3 * time.Second
)

var (
	redisUp = prometheus.NewDesc("levelboard_redis_up",
		"1 if Redis answered when it was last asked, else 0.", nil, nil)
	memoryUsed = prometheus.NewDesc("levelboard_redis_memory_used_bytes",
		"Memory that Redis uses for its data, as it tells.", nil, nil)
	memoryMax = prometheus.NewDesc("levelboard_redis_memory_max_bytes",
		"Memory that Redis may use for its data (maxmemory); 0 is no maximum.", nil, nil)
	evictedKeys = prometheus.NewDesc("levelboard_redis_evicted_keys_total",
		"Keys that Redis dropped for want of memory since it started. Each may be a guild's unsaved changes.", nil, nil)
	persistence = prometheus.NewDesc("levelboard_redis_persistence",
		"1 if Redis keeps its data on disk in this way, else 0: rdb (dumps), aof (a log of changes).", []string{"kind"}, nil)
	persistenceOK = prometheus.NewDesc("levelboard_redis_persistence_ok",
		"0 if Redis could not write its last dump, or its log of changes, to disk, else 1.", nil, nil)
)

// condition is what a server told of itself.
type condition struct {
	up   bool
	info map[string]string // by the names that INFO has
	save string            // when dumps are made
	// saveKnown is false where CONFIG is not allowed, as with many hosted servers.
	saveKnown bool
}

// conditionOf asks the server. What it does not tell is not in the answer: the embedded Redis knows no more than that it is up.
func conditionOf(ctx context.Context, client *node) condition {
	var info *redis.StringCmd
	var save *redis.MapStringStringCmd
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		info = p.Info(ctx, "memory", "stats", "persistence")
		save = p.ConfigGet(ctx, "save")
		return nil
	})
	c := condition{up: answered(err), info: map[string]string{}}
	if !c.up {
		return c
	}
	if info.Err() == nil {
		c.info = fieldsOf(info.Val())
	}
	if save.Err() == nil {
		c.save, c.saveKnown = save.Val()["save"]
	}
	return c
}

// condition is how the server is; of a cluster, what its masters tell in one: it is up if all are, its memory is that of the
// one that is the fullest, dropped keys are summed up, and what is kept on disk is what all of them keep there.
func (c *Client) condition(ctx context.Context) condition {
	if c.only != nil {
		return conditionOf(ctx, c.only)
	}
	var mu sync.Mutex
	var told []condition
	_, err := c.eachMaster(ctx, func(n *node) error {
		one := conditionOf(ctx, n)
		mu.Lock()
		told = append(told, one)
		mu.Unlock()
		return nil
	})
	if err != nil || len(told) == 0 {
		return condition{}
	}
	return mergeConditions(told)
}

func mergeConditions(told []condition) condition {
	all := condition{up: true, info: map[string]string{}, save: told[0].save, saveKnown: true}
	evicted, fullest := 0.0, -1.0
	for _, one := range told {
		if !one.up {
			// The others' numbers would look as if all were well.
			return condition{}
		}
		if full := one.fullness(); full > fullest {
			fullest = full
			for _, field := range []string{"used_memory", "maxmemory"} {
				if value, known := one.info[field]; known {
					all.info[field] = value
				}
			}
		}
		evicted += one.value("evicted_keys")
		if one.save == "" {
			all.save = ""
		}
		all.saveKnown = all.saveKnown && one.saveKnown
		for field, good := range map[string]string{"aof_enabled": "1", "rdb_last_bgsave_status": "ok", "aof_last_write_status": "ok"} {
			if value, known := one.info[field]; known && (all.info[field] == "" || value != good) {
				all.info[field] = value
			}
		}
	}
	all.info["evicted_keys"] = strconv.FormatFloat(evicted, 'f', -1, 64)
	return all
}

// fullness is the share of the memory that is in use, or a little of how much is, where there is no maximum.
func (c condition) fullness() float64 {
	used := c.value("used_memory")
	if most := c.value("maxmemory"); most > 0 {
		return used / most
	}
	return used / (1 << 60)
}

func (c condition) value(field string) float64 {
	value, _ := strconv.ParseFloat(c.info[field], 64)
	return value
}

// EvictionPolicy is the maxmemory-policy by which Redis drops keys when its memory is full, on a cluster that of one of the masters
// that have one; "" when it drops none, or does not tell.
func (c *Client) EvictionPolicy(ctx context.Context) string {
	var found atomic.Value
	_, _ = c.eachMaster(ctx, func(n *node) error {
		info, err := n.Info(ctx, "memory").Result()
		if policy := fieldsOf(info)["maxmemory_policy"]; policy != "" && policy != "noeviction" {
			found.Store(policy)
		}
		return err
	})
	policy, _ := found.Load().(string)
	return policy
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

func describeCondition(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{redisUp, memoryUsed, memoryMax, evictedKeys, persistence, persistenceOK} {
		descs <- desc
	}
}

func (c condition) collect(out chan<- prometheus.Metric) {
	out <- prometheus.MustNewConstMetric(redisUp, prometheus.GaugeValue, oneIf(c.up))
	c.number(out, memoryUsed, prometheus.GaugeValue, "used_memory")
	c.number(out, memoryMax, prometheus.GaugeValue, "maxmemory")
	c.number(out, evictedKeys, prometheus.CounterValue, "evicted_keys")
	if c.saveKnown {
		out <- prometheus.MustNewConstMetric(persistence, prometheus.GaugeValue, oneIf(c.save != ""), "rdb")
	}
	if aof, known := c.info["aof_enabled"]; known {
		out <- prometheus.MustNewConstMetric(persistence, prometheus.GaugeValue, oneIf(aof == "1"), "aof")
	}
	dump, known := c.info["rdb_last_bgsave_status"]
	if known {
		aof := c.info["aof_last_write_status"]
		out <- prometheus.MustNewConstMetric(persistenceOK, prometheus.GaugeValue, oneIf(dump == "ok" && (aof == "ok" || aof == "")))
	}
}

func (c condition) number(out chan<- prometheus.Metric, desc *prometheus.Desc, kind prometheus.ValueType, field string) {
	if value, err := strconv.ParseFloat(c.info[field], 64); err == nil {
		out <- prometheus.MustNewConstMetric(desc, kind, value)
	}
}

func oneIf(so bool) float64 {
	if so {
		return 1
	}
	return 0
}
