package redisstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/store/ratelimit"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/signin"
)

// The documented rights are enough for everything, and each is needed.
func TestTheDocumentedRightsAreEnough(t *testing.T) {
	user := documentedUser(t)
	server := testenv.Redis(t, testenv.WithConfig(user))
	operator := direct(t, server)
	ok(t, operator.ConfigResetStat(t.Context()).Err())
	client := connect(t, server.URLFor("levelboard", "PASSWORD"))
	t.Run("board", func(t *testing.T) {
		storetest.SmokeBoard(t, func(t *testing.T) storetest.Store {
			ok(t, operator.FlushAll(t.Context()).Err())
			return redisstore.New(client, redisstore.Options{})
		})
	})
	t.Run("sessions", func(t *testing.T) {
		storetest.Sessions(t, func(t *testing.T) signin.Store {
			ok(t, operator.FlushAll(t.Context()).Err())
			return redisstore.New(client, redisstore.Options{})
		})
	})
	t.Run("another database", func(t *testing.T) {
		other := strings.TrimSuffix(server.URLFor("levelboard", "PASSWORD"), "/0") + "/1"
		ok(t, connect(t, other).Alive(t.Context()))
	})
	t.Run("limits", func(t *testing.T) {
		limits := ratelimit.New(client)
		key := ratelimit.Budget{Scope: ratelimit.ScopeKey, Name: "k", PerMinute: 5}
		identity := ratelimit.Budget{Scope: ratelimit.ScopeIdentity, Name: "o", PerMinute: 5}
		for _, charged := range [][]ratelimit.Budget{{key}, {key, identity}} {
			if d, err := limits.Charge(t.Context(), charged...); err != nil || !d.Allowed {
				t.Errorf("the limit's decision is %+v (%v), want it allowed", d, err)
			}
		}
	})
	t.Run("messages", func(t *testing.T) {
		s := redisstore.New(client, redisstore.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		nudges := s.Nudges(ctx)
		nudged(t, nudges, "when it is connected")
		ok(t, s.Nudge(ctx))
		nudged(t, nudges, "after Nudge")
	})
	t.Run("calls that only the service makes", func(t *testing.T) {
		s := redisstore.New(client, redisstore.Options{})
		load(t, s, row(user1))
		_, err := s.LoadedGuilds(t.Context())
		ok(t, err)
		_, err = s.Backlog(t.Context(), nil)
		ok(t, err)
		_, err = s.Change(t.Context(), guild1, user1, up)
		ok(t, err)
		_, err = s.Extent(t.Context(), guild1)
		ok(t, err)
		_, err = s.ReadEvents(t.Context(), []events.Cursor{{Guild: guild1}}, 1)
		ok(t, err)
	})

	if refused := operator.ACLLog(t.Context(), 100).Val(); len(refused) > 0 {
		for _, entry := range refused {
			t.Errorf("the server refused: %s %s, in %s", entry.Reason, entry.Object, entry.Context)
		}
	}
	used := operator.Info(t.Context(), "commandstats").Val()
	for _, right := range strings.Fields(user) {
		command, isCommand := strings.CutPrefix(right, "+")
		if isCommand && !strings.Contains(used, fmt.Sprintf("\ncmdstat_%s:", command)) {
			t.Errorf("no call used the documented right %s", command)
		}
	}
}
