package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/testing/testenv"
)

const (
	clients          = 16
	membersEach      = 8
	crowds           = 3   // clients with more members, for calls of several steps
	crowdMembers     = 250 // of each such client
	sharedMembers    = 6
	snapshotInterval = 200 * time.Millisecond
	defaultTime      = 11 * time.Second
	shortTime        = 6 * time.Second // under -short

	mainGuild   = "100000000000000001"
	churnGuild  = "100000000000000002"
	ownerID     = "900000000000000001"
	adminToken  = "torture-torture-torture-torture-torture"
	redisWaits  = 3 * time.Second // of the harness's own client
	againAtMost = 100 * time.Millisecond
)

// mode is the set-up of Redis, which decides what it may lose.
type mode int

const (
	durable   mode = iota // AOF, always: it loses nothing
	volatile              // it comes back empty and loses unarchived changes
	backwards             // it goes back to an old dump
	sentinel              // a replica is promoted; changes that no replica has are lost
	cluster               // several masters with replicas; guilds move between them
)

// loses reports whether Redis may lose acknowledged changes.
func (m mode) loses() bool { return m == volatile || m == backwards }

// fleet describes the replicas of a run.
type fleet struct {
	names    []string
	balanced bool // clients use a balancer
}

// pair is two replicas. Each client uses one until it is down.
var pair = fleet{names: []string{"a", "b"}}

// harness is one run: the servers, the replicas, the clients and the model.
type harness struct {
	t    *testing.T
	mode mode
	seed uint64
	http *http.Client

	redis      *testenv.RedisServer // one server, behind the proxy
	postgres   *testenv.PG
	redisProxy *testenv.Proxy
	pgProxy    *testenv.Proxy
	sentinels  *testenv.Sentinels    // or these
	cluster    *testenv.RedisCluster // or this
	onRedis    []string              // a service's settings for it
	live       redis.UniversalClient // directly to Redis, for the harness only
	replicas   []*replica
	fronts     []*replica // where clients send requests: the replicas or the balancer
	balancer   *balancer  // nil without one
	apiKey     string
	keyID      string

	counts bool           // guilds count gains
	zone   *time.Location // of the guilds

	users     []string // users of every guild
	counters  []*counter
	clients   []*client
	operator  *operator
	restorer  *restorer // nil where no guild is restored
	hook      *webhook  // nil if nothing is announced
	announced *announced
	faulted   int // number of faults

	// gate is read-locked during each attempt and its record in the model. Under the write lock no attempt is running.
	gate   sync.RWMutex
	losses int // number of losses of Redis; guarded by gate

	redisBroken atomic.Bool

	thawed  atomic.Int64  // when bytes to Redis were last delayed, in ns since 1970
	halted  chan struct{} // closed when clients must end
	haltOne sync.Once
	ended   atomic.Int64 // when, in ns since 1970

	mu       sync.Mutex
	broken   string
	schedule []string
	floors   map[string]time.Time // changes acknowledged before this time are archived; by guild/user
	dumped   dump
}

// budget returns how long the faults of a mode last.
func budget(t *testing.T) time.Duration {
	text := os.Getenv("TORTURE_TIME")
	switch {
	case text == "" && testing.Short():
		return shortTime
	case text == "":
		return defaultTime
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("TORTURE_TIME must be a duration such as 10m: %v", err)
	}
	return d
}

func seedOf(t *testing.T) uint64 {
	text := os.Getenv("TORTURE_SEED")
	if text == "" {
		return uint64(rand.Uint32())
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("TORTURE_SEED must be a whole number: %v", err)
	}
	return seed
}

// stream returns a source of random choices for one part of the run.
func (h *harness) stream(number uint64) *rand.Rand { return rand.New(rand.NewPCG(h.seed, number)) }

// Numbers of streams. Those of the clients follow.
const (
	faultStream = iota
	operatorStream
	restorerStream
	announcedStream
	finalStream
	firstClientStream
)

func newHarness(t *testing.T, m mode, f fleet) *harness {
	h := &harness{
		t: t, mode: m, seed: seedOf(t), halted: make(chan struct{}), floors: map[string]time.Time{},
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * clients}},
	}
	t.Cleanup(h.http.CloseIdleConnections)
	t.Logf("seed %d (TORTURE_SEED), faults for %v (TORTURE_TIME)", h.seed, budget(t))
	h.onRedis = h.startRedis()
	if m == durable {
		h.hook = newWebhook(t)
		h.onRedis = append(h.onRedis, "SSL_CERT_FILE="+h.hook.trust, "LEVELBOARD_ALLOWED_PRIVATE_HOSTS=127.0.0.1")
	}
	h.postgres = testenv.PostgresServer(t)
	h.pgProxy = testenv.NewProxy(t, hostOf(t, h.postgres.URL()))
	t.Cleanup(func() { _ = h.live.Close() })
	for _, name := range f.names {
		r := &replica{name: name, env: h.environment()}
		t.Cleanup(r.discard)
		if err := r.start(); err != nil {
			t.Fatal(err)
		}
		h.replicas = append(h.replicas, r)
	}
	h.fronts = h.replicas
	h.awaitReady()
	h.setUp()
	if f.balanced {
		var front *replica
		h.balancer, front = balance(t, h.replicas)
		h.fronts = []*replica{front}
	}
	return h
}

// startRedis starts Redis in this mode, and returns a service's settings for it.
func (h *harness) startRedis() (environ []string) {
	if h.mode == sentinel || h.mode == cluster {
		return h.startReplicated()
	}
	var options []testenv.RedisOption
	if h.mode == durable {
		options = append(options, testenv.WithAOF())
	}
	h.redis = testenv.Redis(h.t, options...)
	h.redisProxy = testenv.NewProxy(h.t, h.redis.Addr())
	h.live = redis.NewClient(&redis.Options{Addr: h.redis.Addr(), ReadTimeout: redisWaits, MaxRetries: -1, Protocol: 2, DisableIdentity: true})
	return []string{"LEVELBOARD_REDIS_URL=" + h.redisProxy.In(h.redis.URL())}
}

func (h *harness) environment() []string {
	return append([]string{
		asReplica + "=1", "GORACE=halt_on_error=1", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir(),
		"LEVELBOARD_LISTEN=127.0.0.1:0", "LEVELBOARD_OPS_LISTEN=127.0.0.1:0",
		"LEVELBOARD_POSTGRES_URL=" + h.pgProxy.In(h.postgres.URL()),
		"LEVELBOARD_ADMIN_TOKEN=" + adminToken, "LEVELBOARD_SNAPSHOT_INTERVAL=" + snapshotInterval.String(),
		"LEVELBOARD_RATE_LIMIT_KEY=0", "LEVELBOARD_RATE_LIMIT_IDENTITY=0", "LEVELBOARD_SHUTDOWN_TIMEOUT=10s",
	}, h.onRedis...)
}

// setUp creates the guilds, the key, the clients and the shared members.
func (h *harness) setUp() {
	h.chooseCalendar()
	h.must("PUT", "/admin/guilds/"+mainGuild, h.guildDocument("Torture", h.counts))
	a := h.must("POST", "/admin/keys", map[string]any{
		"name": "torture", "ownerId": ownerID, "permission": "read_write", "guildIds": []string{mainGuild},
	})
	var made struct{ ID, Key string }
	if err := json.Unmarshal(a.body, &made); err != nil {
		h.t.Fatalf("decoding the answer to a new key: %v", err)
	}
	h.apiKey, h.keyID = made.Key, made.ID
	for i := range sharedMembers {
		user := strconv.Itoa(300000000000000000 + i)
		method, body := change{op: create, name: "shared"}.request(user)
		h.must(method, memberPath(mainGuild, user), body)
		h.users = append(h.users, user)
		h.counters = append(h.counters, &counter{guild: mainGuild, user: user, keyed: i%2 == 0, highest: maxXP, open: map[string]int64{}})
	}
	for i := range clients {
		c := &client{h: h, name: fmt.Sprintf("c%d", i), rng: h.stream(uint64(firstClientStream + i)), current: i}
		n := membersEach
		if i < crowds {
			n = crowdMembers
		}
		for j := range n {
			user := strconv.Itoa(200000000000000000 + 1000*i + j)
			c.members = append(c.members, h.newMember(mainGuild, user))
			h.users = append(h.users, user)
		}
		c.stranger = h.newMember(mainGuild, strconv.Itoa(200000000000000000+1000*i+999))
		h.clients = append(h.clients, c)
	}
	h.operator = newOperator(h)
	for i := range churnMembers {
		h.users = append(h.users, churnUser(i))
	}
	h.awaitSaved()
	if h.mode == backwards {
		h.dumpNow()
	}
}

func (h *harness) newMember(guild, user string) *member {
	m := newMember(guild, user, h.mode.loses())
	m.counted, m.fleeting = h.counted(guild), h.mode == sentinel
	return m
}

// awaitSaved waits until the archive has the counters, so that they exist whatever Redis loses.
func (h *harness) awaitSaved() {
	testenv.Wait(h.t, "the archive has the counters", func() bool {
		rows, err := h.rows()
		return err == nil && len(rows) == len(h.counters)
	})
}

// guildDocument returns a guild's settings. Their kinds of periods never change, or replicas would count by different settings for a while.
func (h *harness) guildDocument(name string, counted bool) map[string]any {
	document := map[string]any{
		"name": name, "memberCount": 1000, "ownerId": ownerID, "xpGainInterval": cooldown.Milliseconds(),
		"xpPerMessageMin": messageXP, "xpPerMessageMax": messageXP, "ignoredChannelIds": []string{deafChannel},
		"multipliers": []map[string]any{{"type": "Channel", "multiplier": 0, "targets": []map[string]any{{"id": muteChannel, "name": "mute"}}}},
	}
	if counted {
		document["timeZone"], document["periods"] = h.zone.String(), kinds
	}
	return document
}

// must sends a request that must succeed, because there was no fault yet.
func (h *harness) must(method, path string, body any) answer {
	h.t.Helper()
	a := h.call(h.replicas[0], method, path, "", body)
	if a.verdict != done {
		h.t.Fatalf("%s %s failed before any fault: %s\n%s", method, path, a.text, h.replicas[0].logTail())
	}
	return a
}

// awaitReady waits until every replica serves members, and reports a violation if one takes too long. It repeats a start that the last fault
// made fail.
func (h *harness) awaitReady() bool {
	for _, r := range h.replicas {
		if !h.until(nil, func() bool {
			a := h.call(r, "GET", "/v2/openapi.json", "", nil)
			if a.verdict == done || a.status == http.StatusUnauthorized {
				return true
			}
			h.revive()
			return false
		}, "replica %s", r.name) {
			return false
		}
	}
	return true
}

func (h *harness) running() bool {
	select {
	case <-h.halted:
		return false
	default:
		return true
	}
}

func (h *harness) halt() {
	h.haltOne.Do(func() {
		h.ended.Store(time.Now().UnixNano())
		close(h.halted)
	})
}

// pause waits, but not beyond the end of the run.
func (h *harness) pause(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	select {
	case <-h.halted:
	case <-ctx.Done():
	}
}

// again waits before a change is repeated, and reports whether it may be. After the last fault it gives up when the patience ends.
func (h *harness) again(attempt int) bool {
	time.Sleep(min(time.Duration(attempt)*10*time.Millisecond, againAtMost))
	if h.isBroken() {
		return false
	}
	return h.running() || time.Since(time.Unix(0, h.ended.Load())) < patience
}

func (h *harness) isBroken() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.broken != ""
}

// flowing returns the time since which bytes to Redis are not delayed. It is in the future while they are.
func (h *harness) flowing() time.Time { return time.Unix(0, h.thawed.Load()) }

func (h *harness) freeze() { h.thawed.Store(time.Now().Add(time.Hour).UnixNano()) }
func (h *harness) thaw()   { h.thawed.Store(time.Now().UnixNano()) }

// floorOf returns a time. All changes of the member that were acknowledged before it are archived.
func (h *harness) floorOf(guild, user string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mode == backwards {
		return h.dumped.at
	}
	return h.floors[guild+"/"+user]
}

func (h *harness) tell(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.schedule = append(h.schedule, time.Now().Format(clock)+" "+fmt.Sprintf(format, args...))
}
