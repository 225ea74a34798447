package app_test

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// givers give XP to one member each of a guild, one at a time, until they stop.
type givers struct {
	s      *service
	g, key string
	users  []string

	made, unknown atomic.Int64
	ended         chan struct{}
	all           sync.WaitGroup
}

func (s *service) give(g, key string) *givers {
	s.t.Helper()
	run := &givers{s: s, g: g, key: key, users: newUsers(8), ended: make(chan struct{})}
	for _, u := range run.users {
		s.create(key, g, u, 0)
	}
	for _, u := range run.users {
		run.all.Go(func() {
			for {
				select {
				case <-run.ended:
					return
				default:
				}
				if r, err := s.quick("PATCH", memberPath(g, u), key, `{"xp":{"increment":1}}`); err == nil && r.Status == 200 {
					run.made.Add(1)
				} else {
					run.unknown.Add(1)
				}
				time.Sleep(5 * time.Millisecond) // the machine has other tests to run
			}
		})
	}
	return run
}

// more waits until so many more gifts were made.
func (run *givers) more(n int64) {
	run.s.t.Helper()
	least := run.made.Load() + n
	testenv.Wait(run.s.t, "XP is given", func() bool { return run.made.Load() >= least })
}

// stop returns what all members have in the end.
func (run *givers) stop() (sum int64) {
	run.s.t.Helper()
	close(run.ended)
	run.all.Wait()
	for _, u := range run.users {
		sum += int64(run.s.member(run.key, run.g, u).Level.XP)
	}
	run.s.t.Logf("%d gifts were answered, %d were not; the members have %d XP", run.made.Load(), run.unknown.Load(), sum)
	return sum
}

// A master is killed while XP is given in a guild that it holds, and in one that it does not. The other one is served on; the
// guild is served by the replica once that was compared with the archive. Nothing is doubled, and what is archived stays.
func TestAMasterIsKilledUnderLoad(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	masterGoes(t, (*testenv.RedisServer).Kill, func(*testenv.RedisServer) {})
}

// It is the same when a master hangs; and when it continues, with what it was sent meanwhile, nothing of that is doubled, and nothing
// is written to it any more.
func TestAMasterHangsUnderLoad(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	masterGoes(t, (*testenv.RedisServer).Pause, (*testenv.RedisServer).Resume)
}

func masterGoes(t *testing.T, goes, comesBack func(*testenv.RedisServer)) {
	c := testenv.Cluster(t, testenv.WithConfig("cluster-require-full-coverage no"))
	s := startSilent(t, append(onCluster(t, c), often)...)
	hit, other := s.guild(nil), s.guild(nil)
	slot := c.SlotOf("lb:{" + hit + "}:meta")
	for c.Owner(c.SlotOf("lb:{"+other+"}:meta")) == c.Owner(slot) {
		other = s.guild(nil)
	}
	key := s.key(hit, other)
	falls, goesOn := s.give(hit, key), s.give(other, key)
	falls.more(200)
	// Each gift is one change of the guild, as was each creation of a member.
	archived := func() int64 {
		text, _ := c.Owner(slot).Ask("HGET", "lb:{"+hit+"}:meta", "archived")
		rev, _ := strconv.ParseInt(text, 10, 64)
		return rev - int64(len(falls.users))
	}
	testenv.Wait(t, "something is archived", func() bool { return archived() > 100 })

	least, before := archived(), goesOn.made.Load()
	died := time.Now()
	master := c.Owner(slot)
	goes(master)
	replica := c.ReplicaOf(master)
	testenv.Wait(t, "its replica takes over", func() bool {
		info, err := replica.Ask("INFO", "replication")
		return err == nil && strings.Contains(info, "\r\nrole:master\r\n")
	})
	falls.more(1)
	back := falls.made.Load()
	took := time.Since(died)
	during := goesOn.made.Load() - before
	t.Logf("the guild was served again after %v; the other one had %d gifts meanwhile", took.Round(10*time.Millisecond), during)
	if during < 50 {
		t.Errorf("only %d gifts in the other guild meanwhile", during)
	}
	falls.more(100)
	comesBack(master)
	falls.more(100)
	if sum := goesOn.stop(); sum < goesOn.made.Load() || sum > goesOn.made.Load()+goesOn.unknown.Load() {
		t.Errorf("the other guild's members have %d XP of %d gifts that were answered and %d that were not", sum, goesOn.made.Load(), goesOn.unknown.Load())
	}
	// The master's answers that it neither archived nor sent to its replica are lost; the test cannot see which.
	sum := falls.stop()
	if after := falls.made.Load() - back; sum < least+after || sum > falls.made.Load()+falls.unknown.Load() {
		t.Errorf("the members have %d XP of %d gifts that were answered and %d that were not, %d of them archived before and %d made after",
			sum, falls.made.Load(), falls.unknown.Load(), least, after)
	}
	archivedOn(t, c, hit)
	archivedOn(t, c, other)
}

// archivedOn waits until the archive has every change of the guild that was answered.
func archivedOn(t *testing.T, c *testenv.RedisCluster, g string) {
	t.Helper()
	meta := "lb:{" + g + "}:meta"
	slot := c.SlotOf(meta)
	testenv.Wait(t, "the snapshot is written", func() bool {
		fields, err := c.Owner(slot).Ask("HMGET", meta, "rev", "archived")
		rev, archived, _ := strings.Cut(fields, "\n")
		return err == nil && rev != "" && rev == archived
	})
}
