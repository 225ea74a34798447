package app_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/testing/testenv"
)

// often sets the shortest snapshot interval.
const often = "LEVELBOARD_SNAPSHOT_INTERVAL=100ms"

// redisClient connects to a test's Redis directly.
func redisClient(t *testing.T, server *testenv.RedisServer) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// archived waits until the archive has every answered change of the guild.
func archived(t *testing.T, client *redis.Client, g string) {
	t.Helper()
	testenv.Wait(t, "the snapshot is written", func() bool {
		waiting, err := client.ZCard(t.Context(), "lb:{"+g+"}:dirty").Result()
		if err != nil {
			t.Fatal(err)
		}
		meta, err := client.HGetAll(t.Context(), "lb:{"+g+"}:meta").Result()
		if err != nil {
			t.Fatal(err)
		}
		return waiting == 0 && meta["rev"] != "" && meta["rev"] == meta["archived"]
	})
}

// seen returns everything that the API shows of a guild's members, except the ETag.
func (s *service) seen(key, g string, users ...string) string {
	s.t.Helper()
	var all strings.Builder
	for _, u := range users {
		got := s.Do("GET", memberPath(g, u), key, nil)
		fmt.Fprintf(&all, "%s: %d %s\n", u, got.Status, got.Body)
	}
	for page := range 2 {
		all.Write(s.Do("GET", boardPath(g, page+1), key, nil).Want(s.t, 200).Body)
	}
	return all.String()
}

// history creates a guild with members that were changed in every way, and returns some of them.
func (s *service) history() (g, key string, users []string) {
	s.t.Helper()
	g = s.guild(wholeGuildSettings())
	key = s.key(g)
	all := s.fill(key, g, 130)
	users = []string{all[0], all[1], all[2], all[129], newID()}
	s.patch(key, g, users[0], object{"increment": 5})
	s.patch(key, g, users[1], maxXP)
	s.Do("DELETE", memberPath(g, users[2]), key, nil).Want(s.t, 204)
	s.Do("POST", memberPath(g, users[4]), key, object{"xp": 77, "user": object{
		"avatar": "a_0123456789abcdef0123456789abcdef", "discriminator": "1", "username": "ünïcode \u0001", "globalName": "",
	}}).Want(s.t, 200)
	return g, key, users
}

// wholeGuildSettings sets everything except what would hide the guild.
func wholeGuildSettings() object {
	all := wholeGuild("history" + newID()[12:])
	all["enabled"] = true
	return all
}

func TestMembersSurviveARestart(t *testing.T) {
	for name, on := range map[string]func(*testing.T) []string{"embedded": onDataDir, "servers": onServers} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			membersSurviveARestart(t, on(t))
		})
	}
}

func membersSurviveARestart(t *testing.T, environ []string) {
	s := start(t, environ...)
	g, key, users := s.history()
	before, guild := s.seen(key, g, users...), s.admin("GET", "/guilds/"+g, nil)
	s.stop(t)
	s = start(t, environ...)
	if after := s.seen(key, g, users...); after != before {
		t.Errorf("after the restart clients see\n%s\nwant\n%s", after, before)
	}
	wantJSON(t, s.admin("GET", "/guilds/"+g, nil), string(guild.Body))
	// Members can still be changed.
	s.patch(key, g, users[4], object{"increment": 1})
	s.create(key, g, users[2], 3)
	s.stop(t)
	s = start(t, environ...)
	if back, again := s.member(key, g, users[4]), s.member(key, g, users[2]); back.Level.XP != 78 || again.Level.XP != 3 {
		t.Errorf("after the second restart the members are %v and %v, want 78 and 3 XP", flat(back), flat(again))
	}
}

// Members that were archived while running survive a stop that could write nothing.
func TestMembersSurviveTheLossOfRedis(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	archive := testenv.Postgres(t)
	environ := []string{"LEVELBOARD_REDIS_URL=" + server.URL(), "LEVELBOARD_POSTGRES_URL=" + archive, often}
	client := redisClient(t, server)
	s := start(t, environ...)
	g, key, users := s.history()
	before := s.seen(key, g, users...)
	for _, lose := range []func(){
		func() { client.FlushAll(t.Context()) },
		func() { server.Kill(); server.Start() },
		func() {
			s.stop(t)
			if holder := leaseHolder(t, archive); holder != "" {
				t.Errorf("%s stopped and still holds the lease, so others must wait", holder)
			}
			client.FlushAll(t.Context())
			s = start(t, environ...)
		},
	} {
		archived(t, client, g)
		lose()
		testenv.Wait(t, "the service answers again", func() bool {
			got, err := s.quick("GET", memberPath(g, users[0]), key, "")
			return err == nil && got.Status == 200
		})
		if after := s.seen(key, g, users...); after != before {
			t.Fatalf("after the loss clients see\n%s\nwant\n%s", after, before)
		}
		s.patch(key, g, users[3], object{"increment": 1})
		s.patch(key, g, users[3], object{"decrement": 1})
		before = s.seen(key, g, users...)
	}
}

func leaseHolder(t *testing.T, archive string) (holder string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), archive)
	if err == nil {
		err = conn.QueryRow(t.Context(), "SELECT holder FROM leases").Scan(&holder)
		_ = conn.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return holder
}

// The last snapshot also compares with the archive the guilds that were not compared since Redis came back.
func TestAStopWritesAGuildThatWasNotVerified(t *testing.T) {
	t.Parallel()
	server, archive := testenv.Redis(t), testenv.Postgres(t)
	environ := []string{"LEVELBOARD_REDIS_URL=" + server.URL(), "LEVELBOARD_POSTGRES_URL=" + archive, "LEVELBOARD_SNAPSHOT_INTERVAL=1h"}
	s := start(t, environ...)
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 5)
	client := redisClient(t, server)
	if err := client.HDel(t.Context(), "lb:{"+g+"}:meta", "server").Err(); err != nil {
		t.Fatal(err)
	}
	s.stop(t)
	if err := client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	s = start(t, environ...)
	if xp := s.member(key, g, u).Level.XP; xp != 5 {
		t.Errorf("after the restart the member has %d XP, want 5", xp)
	}
}

func TestAFailedStartReleasesEverything(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	dir := "LEVELBOARD_DATA_DIR=" + t.TempDir()
	for _, name := range []string{"LEVELBOARD_LISTEN=", "LEVELBOARD_OPS_LISTEN="} {
		err := newApp(t, dir, name+taken.Addr().String()).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), taken.Addr().String()) {
			t.Errorf("a start with the port of %s taken: %v, want an error with the address", name, err)
		}
	}
	// The failed start released the directory.
	start(t, dir).guild(nil)
}

func TestServiceEndsWithItsContext(t *testing.T) {
	t.Parallel()
	running := newApp(t, onDataDir(t)...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		if err := running.Start(ctx); err != nil {
			ended <- err
			return
		}
		ended <- errors.Join(running.Wait(ctx), running.Stop(context.WithoutCancel(ctx)))
	}()
	cancel()
	// The context may end before or after the start; both are an orderly end.
	if err, _ := testenv.Receive(t, ended, "it ends"); err != nil && !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Error(err)
	}
}
