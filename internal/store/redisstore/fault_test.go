package redisstore_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// A server that forgot its scripts runs nothing, so the call is repeated and nobody notices.
func TestScriptsAreLoadedAgain(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	forget := func() {
		if err := client.ScriptFlush(ctx).Err(); err != nil {
			t.Fatal(err)
		}
	}
	load(t, s, row(user1))
	forget()
	o, err := s.Change(ctx, guild1, user1, plusOne)
	if want := (leaderboard.Outcome{Before: 100, After: 101}); err != nil || o != want {
		t.Errorf("change: %+v, %v, want %+v", o, err, want)
	}
	forget()
	m, err := s.Member(ctx, guild1, user1)
	if err != nil || m.XP != 101 {
		t.Errorf("member: %+v, %v, want 101 XP", m, err)
	}
}

// When the reply to a change is lost, the change may have been made. Sending it again could make it twice, so the
// caller gets an error and the change was made once.
func TestALostReplyIsAnErrorAndNeverRepeated(t *testing.T) {
	ctx := t.Context()
	server := testenv.Redis(t)
	direct := redisstore.New(connect(t, server.URL()), redisstore.Options{})
	load(t, direct, row(user1))
	proxy := testenv.NewProxy(t, server.Addr())

	for name, query := range map[string]string{"as it is": "", "with retries asked for in the URL": "?max_retries=5"} {
		s := redisstore.New(connect(t, "redis://"+proxy.Addr()+"/0"+query), redisstore.Options{})
		before, err := s.Member(ctx, guild1, user1)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Version(ctx, guild1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Change(ctx, guild1, user1, plusOne); err != nil {
			t.Fatal(err)
		}

		proxy.Next(testenv.NoReply)
		if o, err := s.Change(ctx, guild1, user1, plusOne); err == nil {
			t.Errorf("%s: a change without a reply: %+v, want an error", name, o)
		}
		if n := proxy.Requests(); n != 1 {
			t.Errorf("%s: %d requests were sent for one change", name, n)
		}
		after, err := direct.Member(ctx, guild1, user1)
		if err != nil || after.XP != before.XP+2 {
			t.Errorf("%s: %d XP (%v) after two changes of %d", name, after.XP, err, before.XP)
		}
		if now, err := direct.Version(ctx, guild1); err != nil || now.Rev != v.Rev+2 {
			t.Errorf("%s: rev %d (%v), want %d", name, now.Rev, err, v.Rev+2)
		}

		if _, err := s.Change(ctx, guild1, user1, plusOne); err != nil {
			t.Errorf("%s: the next change: %v", name, err)
		}
	}
}

func TestADeadRedisIsAFailureSoon(t *testing.T) {
	ctx := t.Context()
	server := testenv.Redis(t)
	load(t, redisstore.New(connect(t, server.URL()), redisstore.Options{}), row(user1)) // a client that waits for a busy machine
	client, err := redisconn.Connect(server.URL(), redisconn.ConnectOptions{Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	s := redisstore.New(client, redisstore.Options{})
	fails := func(what string) {
		t.Helper()
		patient, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_, err := s.Change(patient, guild1, user1, plusOne)
		if err == nil || errors.Is(err, leaderboard.ErrNotLoaded) || patient.Err() != nil {
			t.Errorf("%s: %v, want a failure within the timeout of the client", what, err)
		}
	}
	server.Pause()
	fails("a server that does not answer")
	server.Resume()
	server.Kill()
	fails("a server that is gone")
	server.Start()

	// It came back empty: that is not a failure, but a guild that has to be hydrated. The pool may need a moment to see it.
	testenv.Wait(t, "the guild is to be loaded after the server came back", func() bool {
		_, err := s.Change(ctx, guild1, user1, plusOne)
		return errors.Is(err, leaderboard.ErrNotLoaded)
	})
}

func TestAnEndedContextStopsACall(t *testing.T) {
	s := redisstore.New(connect(t, testenv.Redis(t).URL()), redisstore.Options{})
	load(t, s, row(user1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Change(ctx, guild1, user1, plusOne); !errors.Is(err, context.Canceled) {
		t.Errorf("change: %v, want context.Canceled", err)
	}
	if m, err := s.Member(t.Context(), guild1, user1); err != nil || m.XP != 100 {
		t.Errorf("%d XP (%v) after a change that was never sent, want 100", m.XP, err)
	}
}

// A change whose reply was lost may have been made, so its guild is in the index.
func TestAGuildIsIndexedThoughTheReplyIsLost(t *testing.T) {
	server := testenv.Redis(t)
	proxy := testenv.NewProxy(t, server.Addr())
	s := redisstore.New(connect(t, "redis://"+proxy.Addr()), redisstore.Options{})
	load(t, s, row(user1))
	proxy.Next(testenv.NoReply)
	if o, err := s.Change(t.Context(), guild1, user1, plusOne); err == nil {
		t.Fatalf("a change without a reply: %+v", o)
	}
	guilds, err := s.ChangedGuilds(t.Context())
	if err != nil || !slices.Equal(guilds, []id.Guild{guild1.ID}) {
		t.Errorf("changed guilds %v, %v, want %v", guilds, err, guild1.ID)
	}
}

// A value that is not what this package writes is a failure, and changes nothing.
func TestDamagedValues(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	load(t, s, row(user1))
	want, err := s.Version(ctx, guild1)
	if err != nil {
		t.Fatal(err)
	}
	const key = prefix + "entry"
	good := client.HGet(ctx, key, string(user1)).Val()
	for _, bad := range []string{"", "1 2", "1\x002\x003", "a\x00b\x00c\x00\x00\x00\x00\x00\x00", "1\x002\x003x\x00\x00\x00\x00\x00\x00", "1\x002\x003\x00\x00a\x00\x00\x00\x00", "1\x002\x003\x00\x00\x00\x00"} {
		client.HSet(ctx, key, string(user1), bad)
		if m, err := s.Member(ctx, guild1, user1); err == nil {
			t.Errorf("%q read as %+v", bad, m)
		}
		if p, err := s.Page(ctx, guild1, 0, 10, leaderboard.Digest{}); err == nil {
			t.Errorf("%q read as %+v", bad, p)
		}
		if !strings.HasPrefix(bad, "1\x002\x003\x00\x00") { // a change passes user data on as it is
			if o, err := s.Change(ctx, guild1, user1, plusOne); err == nil {
				t.Errorf("%q changed: %+v", bad, o)
			}
		}
	}
	client.HSet(ctx, key, string(user1), good)
	got, err := s.Version(ctx, guild1)
	if m, _ := s.Member(ctx, guild1, user1); err != nil || !reflect.DeepEqual(got, want) || m.XP != 100 {
		t.Errorf("version %+v (%v) and %d XP, want %+v and 100", got, err, m.XP, want)
	}
}
