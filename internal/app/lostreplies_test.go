package app_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// behindProxy is a service on Redis whose requests and replies get lost once the test says so.
func behindProxy(t *testing.T, environ ...string) (*service, *testenv.RedisServer, *testenv.Proxy) {
	t.Helper()
	server := testenv.Redis(t)
	proxy := testenv.NewProxy(t, server.Addr())
	// A reply that is only late must not count as lost.
	url := "redis://" + proxy.Addr() + "/0?read_timeout=30s"
	s := startSilent(t, append([]string{"LEVELBOARD_REDIS_URL=" + url, "LEVELBOARD_POSTGRES_URL=" + testenv.Postgres(t)}, environ...)...)
	t.Cleanup(func() { proxy.Fail(0, 0) }) // a test that failed stops its service all the same
	return s, server, proxy
}

// A thousand requests to Redis and replies get lost, those of the limits and of the snapshot writer too. Clients repeat each
// request under its Idempotency-Key until they know its outcome; then every change was made once, and each was answered with
// what it did.
func TestNamedRequestsAreMadeOnceWhateverGetsLost(t *testing.T) {
	const clients, enough, seed = 16, 1100, 20260101
	t.Parallel()
	s, server, proxy := behindProxy(t, often, "LEVELBOARD_RATE_LIMIT_KEY=1000000", "LEVELBOARD_RATE_LIMIT_IDENTITY=1000000")
	g := s.guild(object{"xpPerMessageMin": 1, "xpPerMessageMax": 1000}) // another draw would show
	run := &lossyRun{service: s, g: g, key: s.key(g)}
	all := make([]*lossyClient, clients)
	for i := range all {
		all[i] = &lossyClient{lossyRun: run, n: i, own: newID(), random: rand.New(rand.NewPCG(seed, uint64(i)))}
		for _, u := range newUsers(authorsEach) {
			all[i].authors = append(all[i].authors, &author{id: u})
		}
	}
	for i := range run.shared {
		run.shared[i] = newID()
		s.create(run.key, g, run.shared[i], 0)
	}

	proxy.Fail(seed, 0.15)
	together(t, clients, clients, func(i int) error {
		// The bound is far beyond what it takes; it ends a run in which no faults happen.
		for n := 0; proxy.Faults() < enough && n < 5000; n++ {
			if err := all[i].step(); err != nil {
				return fmt.Errorf("client %d, request %d: %w", i, n, err)
			}
		}
		return nil
	})
	proxy.Fail(seed, 0)
	t.Logf("seed %d: %d requests answered, %d of them replays, %d answers of 503; lost %d requests, %d replies and %d halves of replies",
		seed, run.answered.Load(), run.replays.Load(), run.down.Load(), proxy.Count(testenv.NotSent), proxy.Count(testenv.NoReply), proxy.Count(testenv.HalfAReply))
	t.Logf("%d calls with messages, %d of them sent again", run.calls.Load(), run.callsAgain.Load())
	if proxy.Faults() < 1000 || run.replays.Load() < 50 || run.callsAgain.Load() < 50 {
		t.Errorf("only %d faults, %d replays and %d calls sent again: that proves little", proxy.Faults(), run.replays.Load(), run.callsAgain.Load())
	}

	exact := func(when string) {
		t.Helper()
		for _, c := range all {
			if !c.exists {
				s.Do("GET", memberPath(g, c.own), run.key, nil).Want(t, 404)
			} else if m := s.member(run.key, g, c.own).Level; m.XP != c.xp || m.MessageCount != c.messages {
				t.Errorf("%s, client %d's member has %d XP and %d messages, want %d and %d", when, c.n, m.XP, m.MessageCount, c.xp, c.messages)
			}
		}
		run.wantAuthors(t, when, all)
		for i, u := range run.shared {
			if xp := s.member(run.key, g, u).Level.XP; int64(xp) != run.sums[i].Load() {
				t.Errorf("%s, the member of all has %d XP, want %d", when, xp, run.sums[i].Load())
			}
		}
	}
	exact("when nothing gets lost any more")
	client := redisClient(t, server)
	archived(t, client, g)
	client.FlushAll(t.Context())
	exact("loaded from the archive")
}

// lossyRun is what the clients have in common: members that all of them give XP to.
type lossyRun struct {
	*service
	g, key                  string
	shared                  [3]string
	sums                    [3]atomic.Int64
	answered, replays, down atomic.Int64
	calls, callsAgain       atomic.Int64
}

// lossyClient has a member of its own, of which it knows what it must have, and a request under way at most.
type lossyClient struct {
	*lossyRun
	n      int
	own    string
	exists bool
	xp     int
	sent   int
	downs  int // answers of 503
	random *rand.Rand

	messages int // of its own member
	authors  []*author
}

// step sends one request until it is answered, and checks the answer.
func (c *lossyClient) step() error {
	amount := 1 + c.random.IntN(1000)
	if c.random.IntN(3) == 0 {
		i := c.random.IntN(len(c.shared))
		c.sums[i].Add(int64(amount))
		_, err := c.until(200, "PATCH", memberPath(c.g, c.shared[i]), fmt.Sprintf(`{"xp":{"increment":%d}}`, amount))
		return err
	}
	if c.random.IntN(5) == 0 {
		return c.award()
	}
	method, body, exists := "PATCH", "", c.exists
	var status, xp int
	switch c.random.IntN(10) {
	case 0, 1:
		method, body = "POST", fmt.Sprintf(`{"xp":%d,"user":{"avatar":null,"discriminator":"0","username":"u"}}`, amount)
		status, xp, exists = 200, amount, true
		if c.exists {
			status, xp = 409, c.xp
		}
	case 2:
		method, status, xp, exists = "DELETE", 204, 0, false
	case 3:
		body, status, xp = fmt.Sprintf(`{"xp":%d}`, amount), 200, amount
	case 4, 5:
		body, status, xp = fmt.Sprintf(`{"xp":{"decrement":%d}}`, amount), 200, max(c.xp-amount, 0)
	default:
		body, status, xp = fmt.Sprintf(`{"xp":{"increment":%d}}`, amount), 200, c.xp+amount
	}
	if method != "POST" && !c.exists {
		status, xp, exists = 404, 0, false
	}
	got, err := c.until(status, method, memberPath(c.g, c.own), body)
	if err != nil {
		return err
	}
	if exists != c.exists {
		c.messages = 0
	}
	c.xp, c.exists = xp, exists
	if want := fmt.Sprintf(`"xp":%d}}`, xp); status == 200 && !strings.HasSuffix(string(got.Body), want) {
		return fmt.Errorf("%s %s: answer %s, want %s", method, body, got.Body, want)
	}
	return nil
}

// until repeats a request under one name until it is answered with anything but 503, which must be this status.
func (c *lossyClient) until(status int, method, path, body string) (apitest.Response, error) {
	c.sent++
	name := named(fmt.Sprintf("client-%d-request-%d", c.n, c.sent))
	for range 200 {
		got, err := c.quick(method, path, c.key, body, name)
		if err != nil {
			return got, err
		}
		if got.Status == 503 {
			c.down.Add(1)
			c.downs++
			continue
		}
		c.answered.Add(1)
		if got.Header.Get(replayed) != "" {
			c.replays.Add(1)
		}
		if got.Status != status {
			err = fmt.Errorf("%s %s is %d %s, want %d", method, body, got.Status, got.Body, status)
		}
		return got, err
	}
	return apitest.Response{}, fmt.Errorf("%s %s is 503 for ever", method, body)
}
