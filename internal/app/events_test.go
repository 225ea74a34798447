package app_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/app"
	"levelboard/internal/testing/testenv"
)

// startAlive starts a service that sends a sign of life on silent streams this often.
func startAlive(t *testing.T, keepAlive time.Duration, environ ...string) *service {
	t.Helper()
	log := slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})
	return run(t, newWith(t, app.Options{Logger: slog.New(log), Version: "test", KeepAlive: keepAlive}, environ...))
}

var eventCases = cases{
	"each change is one event, also resumed": eachChangeIsOneEvent,
	"ids resume exactly":                     idsResume,
	"bad requests get no stream":             refusedStreams,
	"a stream ends with its key or guild":    endedStreams,
	"a silent stream gets signs of life":     signsOfLife,
}

var twoRewards = []object{
	{"level": 2, "stack": false, "roles": []object{{"id": "300000000000000001", "name": "Two", "color": nil, "position": 1}}},
	{"level": 5, "roles": []object{{"id": "300000000000000002", "name": "Five", "color": nil, "position": 2}}},
}

// idsResume disconnects a client again and again while members gain levels. The client gets each level-up once.
func idsResume(t *testing.T, s *service) {
	const members, steps = 8, 25
	g := s.guild(nil)
	key := s.key(g)
	f := s.follow(key, g, "")
	var writers sync.WaitGroup
	for range members {
		u := newID()
		writers.Go(func() {
			_, err := s.quick("POST", memberPath(g, u), key, `{"xp":0,"user":{"avatar":null,"discriminator":"0","username":"a"}}`)
			for i := 1; i <= steps && err == nil; i++ {
				// The default curve: level n begins at 150 - 100n + 50n².
				_, err = s.quick("PATCH", memberPath(g, u), key, `{"xp":`+strconv.Itoa(150-100*i+50*i*i)+`}`)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	reached := map[string]int{}
	for n := range members * steps {
		if n%7 == 3 {
			f.cancel()
			f = s.follow(key, g, f.last)
			if first := f.last; first == "" {
				t.Error("the stream began without an event id")
			}
		}
		up := f.levelUp()
		if up.Level != reached[up.UserID]+1 || up.PreviousLevel != reached[up.UserID] {
			t.Fatalf("the level-up %+v came after level %d, want the next level", up, reached[up.UserID])
		}
		reached[up.UserID] = up.Level
	}
	writers.Wait()
	s.create(key, g, newID(), 100)
	if up := f.levelUp(); up.XP != 100 {
		t.Errorf("after all level-ups came %+v, want the one to 100 XP", up)
	}
}

func refusedStreams(t *testing.T, s *service) {
	g, disabled := s.guild(nil), s.guild(object{"enabled": false})
	key := s.key(g, disabled)
	wantFailure(t, s.bare(key, disabled), 404)
	wantFailure(t, s.bare(key, newID()), 404)
	wantFailure(t, s.bare("", g), 401)
	wantFailure(t, s.bare("lb_nonsense", g), 401)
	wantFailure(t, s.bare(s.key(), g), 403)
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		wantFailure(t, s.bad(method, eventsPath(g), key, nil), 405)
	}
}

func endedStreams(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 0)
	id, secret := s.mint(object{"guildIds": []string{g}})
	revoked := s.follow(secret, g, "")
	other, secret := s.mint(object{"guildIds": []string{g}})
	ungranted := s.follow(secret, g, "")
	s.admin("DELETE", "/keys/"+id, nil).Want(t, 204)
	s.admin("DELETE", "/keys/"+other+"/guilds/"+g, nil).Want(t, 204)
	s.patch(key, g, u, 1000)
	for _, f := range []*follower{revoked, ungranted} {
		if before := f.ends(); len(before) > 0 {
			t.Errorf("%v came after the key lost its access, want nothing", before)
		}
	}
	deleted := s.follow(key, g, "")
	s.admin("DELETE", "/guilds/"+g, nil).Want(t, 204)
	deleted.ends() // at the next sign of life
}

func signsOfLife(t *testing.T, s *service) {
	g := s.guild(nil)
	f := s.follow(s.key(g), g, "")
	for range 3 {
		if e, _ := testenv.Receive(t, f.got, "a sign of life comes"); e.comment == "" {
			t.Errorf("%+v came on a silent stream, want a comment", e)
		}
	}
}

// A stop does not wait for streams, nor for clients that do not read theirs.
func TestAStopEndsStreams(t *testing.T) {
	t.Parallel()
	log := &testenv.Log{}
	s := run(t, newLogging(t, slog.NewTextHandler(log, nil), onDataDir(t)...))
	g := s.guild(nil)
	key := s.key(g)
	f := s.follow(key, g, "")
	s.stop(t)
	if log.Has("cut off") {
		t.Error("the stop waited for the stream and cut it off")
	}
	f.ends()
}

// A client that does not read is dropped, and delays nobody else. The test writes the events into the log itself, because the
// service would need long for so many.
func TestAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	const many, each = 10, 10_000 // each is a third of a client's largest backlog
	server := testenv.Redis(t)
	s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t))
	g := s.guild(nil)
	key := s.key(g)
	f := s.follow(key, g, "")
	conn, err := net.Dial("tcp", s.app.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: test\r\nX-Api-Key: %s\r\n\r\n", eventsPath(g), key); err != nil {
		t.Fatal(err)
	}
	testenv.Wait(t, "both follow", func() bool { return s.metric("event_streams_open") == 2 })
	dropped := s.metric("event_streams_dropped_total")

	s.create(key, g, newID(), 500) // the first event creates the log
	f.levelUp()
	client := redisClient(t, server)
	log := client.Keys(t.Context(), "lb:{"+g+"}:events:*").Val()
	if len(log) != 1 {
		t.Fatalf("the event logs are %v, want one", log)
	}
	for range many {
		_, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			for range each {
				p.XAdd(t.Context(), &redis.XAddArgs{Stream: log[0], Values: []any{"u", owner, "b", 0, "a", 1_000_000}})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for range each {
			f.levelUp()
		}
	}
	testenv.Wait(t, "the one that does not read is dropped", func() bool { return s.metric("event_streams_dropped_total") == dropped+1 })
	_ = conn.SetReadDeadline(time.Now().Add(testenv.Patience))
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection of the client that does not read is still open")
	}
	s.create(key, g, newID(), 500)
	if up := f.levelUp(); up.XP != 500 {
		t.Errorf("another client got %+v, want the level-up to 500 XP", up)
	}
}
