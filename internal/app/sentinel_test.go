package app_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/app"
	"levelboard/internal/testing/testenv"
)

const (
	sentinelPassword = "the-w4tchers-Own"
	serversPassword  = "the-s3rvers-Own"
)

// onSentinels are sentinels with passwords everywhere, and the settings that lead a service to them.
func onSentinels(t *testing.T, archiveURL string) (s *testenv.Sentinels, environ []string) {
	t.Helper()
	s = testenv.NewSentinels(t, sentinelPassword, testenv.WithPassword(serversPassword))
	return s, []string{
		"LEVELBOARD_REDIS_URL=" + s.URL(), "LEVELBOARD_REDIS_MODE=sentinel", "LEVELBOARD_REDIS_MASTER=" + testenv.MasterName,
		"LEVELBOARD_REDIS_SENTINEL_PASSWORD=" + sentinelPassword, "LEVELBOARD_POSTGRES_URL=" + archiveURL, often,
	}
}

// tally is what one client knows of the one member that only it increments, by one at a time.
type tally struct {
	user           string
	acked, unknown atomic.Int64
}

// load is clients that never stop incrementing.
type load struct {
	s       *service
	g, key  string
	tallies []*tally
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	served time.Time // when a change was last answered well
	gap    time.Duration
}

func (s *service) load(t *testing.T, clients int) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{s: s, g: s.guild(nil), stop: cancel, served: time.Now()}
	l.key = s.key(l.g)
	for range clients {
		one := &tally{user: newID()}
		eventually(t, "the member is there", func() bool { // it may be made and not be on enough replicas in time
			got, err := s.quick("POST", memberPath(l.g, one.user), l.key, `{"xp":0,"user":{"avatar":null,"discriminator":"0","username":"a"}}`)
			return err == nil && (got.Status == http.StatusOK || got.Status == http.StatusConflict)
		})
		l.tallies = append(l.tallies, one)
	}
	for _, one := range l.tallies {
		l.running.Go(func() {
			for ctx.Err() == nil {
				l.increment(one)
			}
		})
	}
	t.Cleanup(l.end)
	return l
}

func (l *load) end() { l.stop(); l.running.Wait() }

func (l *load) increment(one *tally) {
	got, err := l.s.quick("PATCH", memberPath(l.g, one.user), l.key, `{"xp":{"increment":1}}`)
	switch {
	case err == nil && got.Status == http.StatusOK:
		one.acked.Add(1)
		l.mu.Lock()
		now := time.Now()
		l.gap = max(l.gap, now.Sub(l.served))
		l.served = now
		l.mu.Unlock()
	default:
		one.unknown.Add(1)
		time.Sleep(5 * time.Millisecond)
	}
}

// acked is how many changes of each member were answered so far.
func (l *load) acked() []int64 {
	counts := make([]int64, len(l.tallies))
	for i, one := range l.tallies {
		counts[i] = one.acked.Load()
	}
	return counts
}

// more waits until every client had that many more answers.
func (l *load) more(t *testing.T, n int64) {
	t.Helper()
	before := l.acked()
	eventually(t, "the changes continue", func() bool {
		for i, now := range l.acked() {
			if now < before[i]+n {
				return false
			}
		}
		return true
	})
}

// check compares the members with what their clients were told: nothing twice, and of what was acknowledged at most that is
// lost which was between safe and back, when the next master was in use.
func (l *load) check(t *testing.T, safe, back []int64) {
	t.Helper()
	lost := int64(0)
	for i, one := range l.tallies {
		xp := int64(l.s.member(l.key, l.g, one.user).Level.XP)
		acked, unknown := one.acked.Load(), one.unknown.Load()
		if xp > acked+unknown {
			t.Errorf("%d XP after %d changes that were made and %d that may have been", xp, acked, unknown)
		}
		if risked := back[i] - safe[i]; xp < acked-risked {
			t.Errorf("%d XP after %d changes that were made, of which %d had no time to get to a replica", xp, acked, risked)
		}
		lost += max(0, acked-xp)
	}
	t.Logf("%d changes lost; the longest time without one that was answered well: %v", lost, l.gap)
}

// archivedXP reads what the archive holds of a guild's members, past the service.
func archivedXP(t *testing.T, archiveURL, g string) map[string]int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), archiveURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), "SELECT m.user_id, m.xp FROM members m JOIN guilds g USING (incarnation) WHERE g.id = $1", g)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	var user string
	var xp int
	if _, err := pgx.ForEachRow(rows, []any{&user, &xp}, func() error { all[user] = xp; return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// notBelow wants no member to have less XP than the archive had.
func (l *load) notBelow(t *testing.T, floor map[string]int) {
	t.Helper()
	for _, one := range l.tallies {
		if xp := l.s.member(l.key, l.g, one.user).Level.XP; xp < floor[one.user] {
			t.Errorf("%d XP, and the archive had %d", xp, floor[one.user])
		}
	}
}

// used waits until the server is where the service makes its changes.
func (l *load) used(t *testing.T, server *testenv.RedisServer) {
	t.Helper()
	client, before := redisClient(t, server), ""
	eventually(t, "the next master is used", func() bool {
		rev := client.HGet(t.Context(), "lb:{"+l.g+"}:meta", "rev").Val()
		moved := before != "" && rev != "" && rev != before
		before = rev
		return moved
	})
}

// The master dies in the middle of changes: the service continues with the next one by itself, nothing is made twice, what was
// on a replica is not lost, and nobody falls below the archive.
func TestTheMasterDiesUnderLoad(t *testing.T) {
	t.Parallel()
	archiveURL := testenv.Postgres(t)
	s, environ := onSentinels(t, archiveURL)
	l := startSilent(t, environ...).load(t, 8)
	l.more(t, 20)
	safe := l.acked()
	s.InStep()
	master, floor := s.Master(), archivedXP(t, archiveURL, l.g)
	master.Kill()
	l.used(t, s.Promoted(master))
	back := l.acked()
	l.more(t, 20)
	l.end()
	l.check(t, safe, back)
	l.notBelow(t, floor)
}

// A replica is promoted while the master is well and continues taking changes, until the sentinels tell it: by then nobody
// changes anything there.
func TestAPlannedFailoverUnderLoad(t *testing.T) {
	t.Parallel()
	archiveURL := testenv.Postgres(t)
	s, environ := onSentinels(t, archiveURL)
	l := startSilent(t, environ...).load(t, 8)
	l.more(t, 20)
	safe := l.acked()
	s.InStep()
	master, floor := s.Master(), archivedXP(t, archiveURL, l.g)
	s.Failover()
	l.used(t, s.Promoted(master))
	back := l.acked()
	rev := func() string { return redisClient(t, master).HGet(t.Context(), "lb:{"+l.g+"}:meta", "rev").Val() }
	left := rev()
	l.more(t, 20)
	if role, _ := master.Ask("INFO", "replication"); strings.Contains(role, "\r\nrole:master\r\n") && rev() != left {
		t.Error("the old master is still written to")
	}
	l.end()
	l.check(t, safe, back)
	l.notBelow(t, floor)
}

// With changes that wait for all replicas a planned failover loses none that was acknowledged: the replica that is promoted
// answers for the old master no more.
func TestAPlannedFailoverWithChangesThatWait(t *testing.T) {
	t.Parallel()
	s, environ := onSentinels(t, testenv.Postgres(t))
	l := startSilent(t, append(environ, "LEVELBOARD_REDIS_WAIT_REPLICAS=2", "LEVELBOARD_REDIS_WAIT_TIMEOUT=300ms")...).load(t, 8)
	l.more(t, 20)
	master := s.Master()
	s.Failover()
	l.used(t, s.Promoted(master))
	l.more(t, 20)
	l.end()
	all := l.acked()
	l.check(t, all, all)
	s.InStep() // the last snapshot waits for them, too
}

// A replica that was cut off takes over: what was not archived by then is lost, and the archive's XP is there, also when the
// replica's is lower.
func TestAReplicaThatLaggedTakesOver(t *testing.T) {
	t.Parallel()
	s, environ := onSentinels(t, testenv.Postgres(t))
	service := startSilent(t, environ...)
	g, ada, bea := service.guild(nil), newID(), newID()
	key := service.key(g)
	service.create(key, g, ada, 100)
	s.InStep()
	s.Lag()
	service.patch(key, g, ada, object{"increment": 50})
	service.create(key, g, bea, 7)
	master := s.Master()
	archived(t, redisClient(t, master), g)
	for _, replica := range s.Replicas() {
		if xp := redisClient(t, replica).ZScore(t.Context(), "lb:{"+g+"}:xp", ada).Val(); xp != 100 {
			t.Fatalf("%v XP on a replica, which was to have missed the change", xp)
		}
	}
	before := service.wentBack()
	master.Kill()
	s.Promoted(master)
	eventually(t, "the service answers", func() bool {
		got, err := service.quick("GET", memberPath(g, ada), key, "")
		return err == nil && got.Status == http.StatusOK
	})
	if xp := service.member(key, g, ada).Level.XP; xp != 150 {
		t.Errorf("%d XP, want the archived 150", xp)
	}
	if xp := service.member(key, g, bea).Level.XP; xp != 7 {
		t.Errorf("%d XP of the member that the replica did not have, want 7", xp)
	}
	if service.wentBack() == before {
		t.Error("no metric says that Redis has gone back")
	}
}

// The start reports what is wrong with how the sentinels are reached.
func TestSentinelsThatRefuse(t *testing.T) {
	t.Parallel()
	archiveURL := testenv.Postgres(t)
	s, environ := onSentinels(t, archiveURL)
	for _, c := range []struct{ name, setting, want string }{
		{"wrong name", "LEVELBOARD_REDIS_MASTER=another", "set LEVELBOARD_REDIS_MASTER"},
		{"wrong password", "LEVELBOARD_REDIS_SENTINEL_PASSWORD=no", "set LEVELBOARD_REDIS_SENTINEL_PASSWORD"},
		{"no password", "LEVELBOARD_REDIS_SENTINEL_PASSWORD=", "set LEVELBOARD_REDIS_SENTINEL_PASSWORD"},
		{"wrong password of the server", "LEVELBOARD_REDIS_URL=" + strings.Replace(s.URL(), serversPassword, "no", 1), "the password of LEVELBOARD_REDIS_URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := build(t, app.Options{}, append(environ, c.setting)...)
			err := a.Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), serversPassword) || strings.Contains(err.Error(), sentinelPassword)) {
				t.Error("the error holds a secret")
			}
		})
	}
}
