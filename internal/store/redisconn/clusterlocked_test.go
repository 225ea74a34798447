package redisconn_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"levelboard/internal/store/ratelimit"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
)

// documentedRights returns the rights that docs/security.md adds for a cluster and for changes that wait for replicas.
func documentedRights(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/security.md")
	ok(t, err)
	const onCluster, waiting = "+cluster|slots +asking", "+wait"
	for _, rights := range []string{onCluster, waiting} {
		if !strings.Contains(string(text), "`"+rights+"`") {
			t.Fatalf("docs/security.md lacks the rights %s", rights)
		}
	}
	return " " + onCluster + " " + waiting
}

// lockedCluster only accepts TLS. Its default user has a password, and another user has the documented rights.
func lockedCluster(t *testing.T) (c *clustered, trust func() (*tls.Config, error)) {
	t.Helper()
	ca := testenv.NewCA(t)
	trust = clientTLS(t, ca)
	nodes := testenv.Cluster(t, testenv.WithTLS(ca, ca.Loopback()), testenv.WithPassword("p@ss:w/rd"),
		testenv.WithConfig(documentedUser(t)+documentedRights(t)))
	client, err := redisconn.Connect(nodes.URLFor("levelboard", "PASSWORD"), redisconn.ConnectOptions{
		Cluster: true, Timeout: patience, TLS: trust, Waiting: redisconn.Waiting{Replicas: 1, Timeout: 10 * time.Second},
	})
	ok(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return &clustered{T: t, RedisCluster: nodes, client: client}, trust
}

// On a cluster with TLS and passwords, and with changes that wait for replicas, the documented rights are enough for everything, and each
// is needed.
func TestTheDocumentedRightsAreEnoughOnACluster(t *testing.T) {
	t.Parallel()
	c, trust := lockedCluster(t)
	for _, master := range c.Masters {
		c.ask(master, "CONFIG", "RESETSTAT")
	}
	t.Run("board", func(t *testing.T) {
		storetest.SmokeBoard(t, func(t *testing.T) storetest.Store {
			c.empty(t)
			return newBoard(c.client)
		})
	})
	t.Run("limits", func(t *testing.T) {
		limits := ratelimit.New(c.client)
		key := ratelimit.Budget{Scope: ratelimit.ScopeKey, Name: "k", PerMinute: 5}
		identity := ratelimit.Budget{Scope: ratelimit.ScopeIdentity, Name: "o", PerMinute: 5}
		for _, charged := range [][]ratelimit.Budget{{key}, {key, identity}} {
			if d, err := limits.Charge(t.Context(), charged...); err != nil || !d.Allowed {
				t.Errorf("the limit's decision is %+v (%v), want it allowed", d, err)
			}
		}
	})
	t.Run("messages", func(t *testing.T) {
		s := newBoard(c.client)
		nudges := s.Nudges(t.Context())
		nudged(t, nudges, "when it is connected")
		ok(t, s.Nudge(t.Context()))
		nudged(t, nudges, "after Nudge")
	})
	t.Run("a slot that moves", func(t *testing.T) {
		s := newBoard(c.client)
		c.empty(t)
		load(t, s, row(user1))
		slot := c.SlotOf(prefix + "meta")
		from := c.Owner(slot)
		to := c.Another(from)
		ok(t, direct(t, from).Set(t.Context(), prefix+"a", "A", 0).Err())
		c.BeginMove(slot, from, to)
		c.MoveKeys(slot, from, to, prefix+"a")
		if got, err := c.client.Get(t.Context(), prefix+"a").Result(); err != nil || got != "A" {
			t.Errorf("reading a moved key returned %q (%v), want A", got, err)
		}
		c.MoveKeys(slot, from, to)
		c.EndMove(slot, from, to)
		verify(t, c.client)
		_, err := s.Change(t.Context(), guild1, user1, plusOne)
		ok(t, err)
		wantXP(t, s, 101)
	})
	t.Run("calls that only the service makes", func(t *testing.T) {
		s := newBoard(c.client)
		_, err := s.LoadedGuilds(t.Context())
		ok(t, err)
		_, err = s.Backlog(t.Context(), nil)
		ok(t, err)
		if n, err := s.client.Replicas(t.Context()); n != 1 || err != nil {
			t.Errorf("the master has %d replicas (%v), want 1", n, err)
		}
	})

	t.Run("errors name the mistake", func(t *testing.T) {
		for want, o := range map[string]redisconn.ConnectOptions{"certificate": {Timeout: patience}, "WRONGPASS": {TLS: trust, Timeout: patience}} {
			o.Cluster = true
			client, err := redisconn.Connect(c.URLFor("levelboard", "another"), o)
			ok(t, err)
			// On a busy machine the time for one check may pass before the server answers.
			testenv.Wait(t, "there is time for a look", func() bool {
				err = newBoard(client).Ping(t.Context())
				return !errors.Is(err, context.DeadlineExceeded)
			})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %s in it", err, want)
			}
			_ = client.Close()
		}
	})

	var used strings.Builder
	for _, node := range append(c.Masters, c.Replicas...) {
		if refused := direct(t, node).ACLLog(t.Context(), 100).Val(); len(refused) > 0 {
			for _, entry := range refused {
				if entry.Reason == "auth" { // from the wrong password above
					continue
				}
				t.Errorf("the server refused: %s %s of %s, in %s", entry.Reason, entry.Object, entry.Username, entry.Context)
			}
		}
		used.WriteString(c.ask(node, "INFO", "commandstats"))
	}
	for right := range strings.FieldsSeq(documentedRights(t)) {
		if !strings.Contains(used.String(), fmt.Sprintf("\ncmdstat_%s:", right[1:])) {
			t.Errorf("no call used the documented right %s", right[1:])
		}
	}
}
