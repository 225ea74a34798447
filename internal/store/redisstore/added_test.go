package redisstore_test

import (
	"testing"

	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// Scripts add a clamped amount with ZINCRBY, as the sorted set is the counter, and use ZADD only to set XP.
func TestXPIsAddedByZINCRBY(t *testing.T) {
	ctx, client := t.Context(), connect(t, testenv.Redis(t, testenv.WithConfig("notify-keyspace-events Kz")).URL())
	s := redisstore.New(client, redisstore.Options{})
	load(t, s, row(user1))
	commands := client.PSubscribe(ctx, "__keyspace@0__:"+prefix+"xp")
	t.Cleanup(func() { _ = commands.Close() })
	if _, err := commands.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		op   leaderboard.Op
		by   level.XP
		want level.XP
		uses string
	}{
		{"an increment", leaderboard.Increment, 5, 105, "zincr"},
		{"a decrement", leaderboard.Decrement, 6, 99, "zincr"},
		{"a decrement below 0", leaderboard.Decrement, 1000, 0, "zincr"},
		{"what is set", leaderboard.Set, level.MaxXP - 3, level.MaxXP - 3, "zadd"},
		{"an increment above the highest XP", leaderboard.Increment, 50, level.MaxXP, "zincr"},
		{"an award", "award", 20, 20, "zincr"},
	} {
		user, err := user1, error(nil)
		if c.op == "award" {
			user = "200000000000000002"
			_, _, err = s.Award(ctx, guild1, leaderboard.Awards{Members: []leaderboard.Award{{User: user, Offers: []level.XP{c.by}}}})
		} else {
			_, err = s.Change(ctx, guild1, user, leaderboard.Change{Op: c.op, Amount: c.by})
		}
		if err != nil {
			t.Fatal(err)
		}
		if told, err := commands.ReceiveMessage(ctx); err != nil || told.Payload != c.uses {
			t.Errorf("%s used %v (%v), want %s", c.what, told, err, c.uses)
		}
		if m, err := s.Member(ctx, guild1, user); err != nil || m.XP != c.want {
			t.Errorf("after %s the member has %d XP (%v), want %d", c.what, m.XP, err, c.want)
		}
	}
}
