package redisconn_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

func follow(t testing.TB, replica *redis.Client, master *testenv.RedisServer) {
	t.Helper()
	host, port, _ := strings.Cut(master.Addr(), ":")
	ok(t, replica.ReplicaOf(t.Context(), host, port).Err())
	testenv.Wait(t, "the replica is in step", func() bool {
		return replica.InfoMap(t.Context(), "replication").Item("Replication", "master_link_status") == "up"
	})
}

// A master becomes a replica of a lagging one, copies its data, and is promoted again: the same process and run_id with older data.
func TestAPromotedServerIsVerified(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server, lagging := quickMaster(t), quickMaster(t)
	s := newBoard(connect(t, server.URL()))
	operator, other := direct(t, server), direct(t, lagging)

	load(t, s, row(user1))
	follow(t, other, server)
	if xp := other.ZScore(ctx, prefix+"xp", string(user1)).Val(); xp != 100 {
		t.Fatalf("the lagging replica has %v XP, want 100", xp)
	}
	ok(t, other.ReplicaOf(ctx, "NO", "ONE").Err())
	if _, err := s.Change(ctx, guild1, user1, plusOne); err != nil {
		t.Fatalf("a change on the master, once a replica left: %v", err)
	}
	follow(t, operator, lagging)
	if _, err := s.Change(ctx, guild1, user1, plusOne); err == nil || errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("a change on a replica: %v, want an error other than ErrNotLoaded", err)
	}
	ok(t, operator.ReplicaOf(ctx, "NO", "ONE").Err())
	ok(t, operator.ClientKillByFilter(ctx, "TYPE", "normal", "SKIPME", "yes").Err()) // as Sentinel does

	testenv.Wait(t, "the server answers again", func() bool { return s.Ping(ctx) == nil })
	if _, err := s.Change(ctx, guild1, user1, plusOne); !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("a change on older data: %v, want ErrNotLoaded", err)
	}
	if xp := operator.ZScore(ctx, prefix+"xp", string(user1)).Val(); xp != 100 {
		t.Errorf("the member has %v XP, want the 100 of the lagging replica", xp)
	}
}

// The address passes to another server while connections to the old one stay open. A script made for one cannot run on the other, on any
// connection.
func TestAScriptRunsOnlyOnTheServerItWasMadeFor(t *testing.T) {
	ctx := t.Context()
	server := testenv.Redis(t, testenv.WithConfig("slowlog-log-slower-than 0", "slowlog-max-len 1000"))
	s := newBoard(connect(t, server.URL()))
	load(t, s, row(user1))
	ran := digests(t, server)
	server.Stop()
	server.Start()
	testenv.Wait(t, "the server answers again", func() bool { return s.Ping(ctx) == nil })
	load(t, s, row(user1))
	for _, digest := range digests(t, server) {
		if slices.Contains(ran, digest) {
			t.Errorf("the script %s ran before and after the restart", digest)
		}
		if exists := direct(t, server).ScriptExists(ctx, ran...).Val(); slices.Contains(exists, true) {
			t.Errorf("the restarted server knows a script of the earlier one")
		}
	}
}

// digests returns the digests of the scripts that ran.
func digests(t *testing.T, server *testenv.RedisServer) []string {
	t.Helper()
	var digests []string
	for _, call := range direct(t, server).SlowLogGet(t.Context(), 1000).Val() {
		if strings.EqualFold(call.Args[0], "evalsha") {
			digests = append(digests, call.Args[1])
		}
	}
	if len(digests) == 0 {
		t.Fatal("no script ran")
	}
	return digests
}

// A restart of the service adds no scripts to the server, because all processes load the same scripts for one run of the server.
func TestReconnectingLoadsNoNewScripts(t *testing.T) {
	server := testenv.Redis(t)
	count := func() string {
		return direct(t, server).InfoMap(t.Context(), "memory").Item("Memory", "number_of_cached_scripts")
	}
	first := newBoard(connect(t, server.URL()))
	load(t, first, row(user1))
	want := count()
	for range 5 {
		s := newBoard(connect(t, server.URL()))
		if m, err := s.Member(t.Context(), guild1, user1); err != nil || m.XP != 100 {
			t.Fatalf("the member is %+v (%v), want 100 XP", m, err)
		}
	}
	if got := count(); got != want || want == "0" {
		t.Errorf("after five more clients the server has %s scripts, want %s as before", got, want)
	}
}

// If the server's identity cannot be read, the error names the missing right.
func TestAServerWithoutTheRightToInfoIsAnError(t *testing.T) {
	server := testenv.Redis(t)
	ok(t, direct(t, server).Do(t.Context(), "ACL", "SETUSER", "default", "-info").Err())
	s := newBoard(connect(t, server.URL()))
	if err := s.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "INFO") {
		t.Errorf("Ping: %v, want an error about INFO", err)
	}
}
