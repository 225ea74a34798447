package redisstore

import (
	"context"
	"strconv"
	"sync"
)

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
