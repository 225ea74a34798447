package redisconn_test

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// After a lost reply the caller gets an error, and go-redis does not send again: a script, with or without a name, another command, or a
// pipeline.
func TestALostReplyIsNeverRepeated(t *testing.T) {
	t.Parallel()
	t.Run("one server", func(t *testing.T) {
		t.Parallel()
		server := testenv.Redis(t)
		sentOnce(t, connect(t, server.URL()+"?max_retries=5"), server)
	})
	t.Run("sentinels", func(t *testing.T) {
		t.Parallel()
		s := testenv.NewSentinels(t, "")
		sentOnce(t, throughSentinels(t, s, redisconn.ConnectOptions{Timeout: patience}), s.Servers[0])
	})
}

func sentOnceOnACluster(t *testing.T, c *clustered) {
	sentOnce(t, connectCluster(t, c.URL()), c.Owner(c.SlotOf(prefix+"meta")))
}

// sentOnce checks a client that has not connected yet, and the server with guild1.
func sentOnce(t *testing.T, client *redisconn.Client, server *testenv.RedisServer) {
	ctx := t.Context()
	proxy := testenv.NewProxy(t, server.Addr())
	client.Through(func(address string) string {
		if address == server.Addr() || address == "FailoverClient" {
			return proxy.Addr()
		}
		return address
	})
	s := newBoard(client)
	load(t, s, row(user1))
	_, err := s.Change(ctx, guild1, user1, plusOne)
	ok(t, err)
	key := prefix + "counter"
	count := func() int {
		n, err := direct(t, server).Get(ctx, key).Int()
		if err != nil && !errors.Is(err, redis.Nil) {
			t.Error(err)
		}
		return n
	}
	proxy.Only(prefix) // ignores the client's own questions about slots
	for what, send := range map[string]func() error{
		"a change": func() error { _, err := s.Change(ctx, guild1, user1, plusOne); return err },
		"a named change": func() error {
			_, err := s.Delete(ctx, guild1, "200000000000000009", leaderboard.Removal{Once: named("x").Once})
			return err
		},
		"another command": func() error { return client.Incr(ctx, key).Err() },
		"a pipeline": func() error {
			_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
				p.Incr(ctx, key)
				p.Incr(ctx, key)
				return nil
			})
			return err
		},
		"a transaction": func() error {
			_, err := client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Incr(ctx, key)
				p.Incr(ctx, key)
				return nil
			})
			return err
		},
	} {
		_, err := s.Version(ctx, guild1) // opens a connection
		ok(t, err)
		before := count()
		proxy.Next(testenv.NoReply)
		if err := send(); err == nil || errors.Is(err, leaderboard.ErrNoMember) {
			t.Errorf("%s without a reply: %v, want an error other than ErrNoMember", what, err)
		}
		if n := proxy.Requests(); n != 1 && what != "a named change" {
			t.Errorf("%s was sent %d times, want once", what, n)
		}
		if n := count() - before; n > 2 {
			t.Errorf("%s counted %d times, want at most 2", what, n)
		}
	}
	var two *redis.IntCmd
	before := count()
	if _, err := client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Incr(ctx, key)
		two = p.Incr(ctx, key)
		return nil
	}); err != nil || two.Val() != int64(before)+2 {
		t.Errorf("a transaction of two increments went from %d to %d (%v)", before, two.Val(), err)
	}
	if m, err := s.Member(ctx, guild1, user1); err != nil || m.XP > 102 {
		t.Errorf("the member has %d XP (%v), want at most 102", m.XP, err)
	}
}
