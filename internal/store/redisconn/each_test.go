package redisconn_test

import (
	"errors"
	"strings"
	"testing"

	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

// Guilds whose changes are one run of a script have nothing to do with each other: each has its own curve, and what is wrong with
// one is its own.
func TestGuildsOfOneRunAreApart(t *testing.T) {
	const guilds = 20
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		s := newBoard(client)
		for g := range guilds {
			loadGuild(t, s, guildNo(g), nth(1))
		}
		broken := map[int]bool{0: true, 5: true, 6: true, guilds - 1: true}
		for g := range broken {
			ok(t, client.Set(t.Context(), strings.Replace(prefix, string(guild1.ID), string(guildNo(g).ID), 1)+"xp", "not a board", 0).Err())
		}
		// The first level begins at 95 XP in the first guild, at 96 in the second, and so on: 5 more than 100 reach it in some.
		curve := func(g int) *level.Curve {
			c, err := level.NewCurve([]float64{0, float64(95 + g)})
			ok(t, err)
			return &c
		}
		b := newBatch(t, s)
		changes := make([]*changed, guilds)
		for g := range changes {
			changes[g] = b.change(guildNo(g), nth(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 5, Curve: curve(g)})
		}
		other := guildNo(1)
		other.Incarnation++
		unknown := b.change(other, nth(1), plus(1))
		b.send()
		if !errors.Is(unknown.err, leaderboard.ErrNotLoaded) {
			t.Errorf("a guild that is not loaded: %v", unknown.err)
		}
		for g, c := range changes {
			if broken[g] {
				if c.err == nil || !strings.Contains(c.err.Error(), "WRONGTYPE") {
					t.Errorf("guild %d, whose board is none: %+v, %v", g, c.Outcome, c.err)
				}
				continue
			}
			c.want(t, 100, 105)
			read, err := s.ReadEvents(t.Context(), []events.Cursor{{Guild: guildNo(g)}}, 1000)
			ok(t, err)
			ups := 0
			for _, e := range read[0] {
				if e.Reset == "" {
					ups++
				}
			}
			want := 0
			if c := curve(g); c.LevelAt(105) > c.LevelAt(100) {
				want = 1
			}
			if ups != want {
				t.Errorf("guild %d noted %d level-ups, want %d", g, ups, want)
			}
		}
	})
}
