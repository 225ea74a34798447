package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/testing/testenv"
)

// A replica is promoted while the master is healthy, and after it was killed. Changes wait for all replicas, so no acknowledged change is lost,
// and each counts once.
func TestNothingAcknowledgedIsLostWithSentinels(t *testing.T) { torture(t, sentinel) }

// Guilds move between masters, and replicas are promoted while their masters are healthy. No acknowledged change is lost, and each counts
// once.
func TestNothingAcknowledgedIsLostOnACluster(t *testing.T) { torture(t, cluster) }

// calm is the pause after each fault in a mode whose changes wait for all replicas, because few are answered during a fault.
const calm = 2 * time.Second

// startReplicated starts a Redis with replicas, and returns the settings of a service whose changes wait for all of them.
func (h *harness) startReplicated() (environ []string) {
	environ = []string{"LEVELBOARD_REDIS_WAIT_TIMEOUT=400ms"}
	if h.mode == sentinel {
		h.sentinels = testenv.NewSentinels(h.t, "")
		var watchers []string
		for _, w := range h.sentinels.Watchers {
			watchers = append(watchers, w.Addr())
			// A short time makes more failovers. Those of a hanging machine are welcome here.
			if _, err := w.Ask("SENTINEL", "SET", testenv.MasterName, "down-after-milliseconds", "1000"); err != nil {
				h.t.Fatal(err)
			}
		}
		h.live = redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: testenv.MasterName, SentinelAddrs: watchers, ReadTimeout: redisWaits, Protocol: 2, DisableIdentity: true,
		})
		return append(environ, "LEVELBOARD_REDIS_MODE=sentinel", "LEVELBOARD_REDIS_MASTER="+testenv.MasterName,
			"LEVELBOARD_REDIS_URL="+h.sentinels.URL(), "LEVELBOARD_REDIS_WAIT_REPLICAS=2")
	}
	h.cluster = testenv.Cluster(h.t)
	var nodes []string
	for _, s := range h.cluster.Masters {
		nodes = append(nodes, s.Addr())
	}
	h.live = redis.NewClusterClient(&redis.ClusterOptions{Addrs: nodes, ReadTimeout: redisWaits, Protocol: 2, DisableIdentity: true})
	return append(environ, "LEVELBOARD_REDIS_MODE=cluster", "LEVELBOARD_REDIS_URL="+h.cluster.URL(), "LEVELBOARD_REDIS_WAIT_REPLICAS=1")
}

// sentinelFaults are the faults of a master that sentinels watch. Each ends when all servers are in step again.
func sentinelFaults() []fault {
	return []fault{
		{name: "plan a failover", target: "redis", weight: 4, begin: func(h *harness, _ *rand.Rand) func() {
			h.freeze()
			master := h.sentinels.Master()
			h.sentinels.Failover()
			return func() {
				h.sentinels.Promoted(master)
				h.sentinels.Settle()
				h.thaw()
				h.pause(calm)
			}
		}},
		{name: "kill the master", target: "redis", weight: 2, begin: func(h *harness, _ *rand.Rand) func() {
			h.freeze()
			master := h.sentinels.Master()
			master.Kill()
			return func() {
				h.sentinels.Promoted(master)
				master.Start()
				h.sentinels.Settle()
				h.thaw()
				h.pause(calm)
			}
		}},
	}
}

// clusterFaults are the faults of the guilds' masters.
func clusterFaults() []fault {
	return []fault{
		{name: "move the slot of a guild", target: "redis", weight: 4, begin: func(h *harness, rng *rand.Rand) func() {
			h.freeze()
			slot := h.slotOfOne(rng)
			from := h.cluster.Owner(slot)
			others := slices.DeleteFunc(h.masters(), func(s *testenv.RedisServer) bool { return s == from })
			to := others[rng.IntN(len(others))]
			h.cluster.BeginMove(slot, from, to)
			return func() { // until then, missing keys are created on the other node
				h.cluster.Move(slot, from, to)
				h.thaw()
			}
		}},
		{name: "plan a failover", target: "redis", weight: 3, begin: func(h *harness, rng *rand.Rand) func() {
			h.freeze()
			h.cluster.Failover(h.slotOfOne(rng))
			return h.thaw
		}},
	}
}

// slotOfOne returns the slot of one of the guilds.
func (h *harness) slotOfOne(rng *rand.Rand) int {
	guilds := []string{mainGuild, mainGuild, churnGuild, restoreGuild}
	return h.cluster.SlotOf(fmt.Sprintf("lb:{%s}:meta", guilds[rng.IntN(len(guilds))]))
}

// masters returns the cluster's current masters.
func (h *harness) masters() (all []*testenv.RedisServer) {
	for _, s := range slices.Concat(h.cluster.Masters, h.cluster.Replicas) {
		if info, err := s.Ask("INFO", "replication"); err == nil && strings.Contains(info, "\r\nrole:master\r\n") {
			all = append(all, s)
		}
	}
	return all
}
