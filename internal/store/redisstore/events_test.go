package redisstore_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/boards"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

// up takes the member of row to another level.
var up = leaderboard.Change{Op: leaderboard.Increment, Amount: 1000, Curve: &level.Curve{}}

// withLog runs test on both kinds of Redis, with guild1 loaded.
func withLog(t *testing.T, test func(t *testing.T, s *redisstore.Store)) {
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		s := redisstore.New(client, redisstore.Options{})
		load(t, s)
		test(t, s)
	})
}

// curves draws curves of every kind: presets, lines, steep and flat ones, those with values at halves, and those whose terms cancel out
// beyond the precision of floats.
func curves() *rapid.Generator[level.Curve] {
	return rapid.Custom(func(t *rapid.T) level.Curve {
		for {
			kind := rapid.SampledFrom([]string{"preset", "whole", "halves", "floats", "tiny", "cancel"}).Draw(t, "kind")
			if kind == "preset" {
				c, _ := level.Preset(rapid.SampledFrom([]string{"default", "amari", "mee6"}).Draw(t, "preset"))
				return c
			}
			var coefficients []float64
			for i := range rapid.IntRange(2, 5).Draw(t, "terms") {
				var x float64
				switch kind {
				case "whole":
					x = float64(rapid.IntRange(-20, 1000).Draw(t, "c"))
				case "halves":
					x = float64(rapid.IntRange(0, 50).Draw(t, "c")) / 2
				case "floats":
					x = rapid.Float64Range(-1, 500).Draw(t, "c")
				case "tiny":
					x = rapid.Float64Range(0, math.Pow(100, float64(1-i))).Draw(t, "c")
				case "cancel":
					if i == 0 {
						x = -math.Pow(2, float64(rapid.IntRange(30, 60).Draw(t, "c")))
					} else {
						x = rapid.Float64Range(1, 300).Draw(t, "c")
					}
					if i == 1 {
						x -= coefficients[0]
					}
				}
				coefficients = append(coefficients, x)
			}
			if c, err := level.NewCurve(coefficients); err == nil {
				return c
			}
		}
	})
}

// xp draws an amount that is often at the start of a level of the curve, or next to it.
func xp(c level.Curve) *rapid.Generator[level.XP] {
	return rapid.Custom(func(t *rapid.T) level.XP {
		if rapid.Bool().Draw(t, "anywhere") {
			return level.XP(rapid.Int64Range(0, int64(level.MaxXP)).Draw(t, "xp"))
		}
		n := rapid.IntRange(0, int(c.LevelAt(level.MaxXP))).Draw(t, "level")
		return min(max(c.XPFor(level.Level(n))+level.XP(rapid.IntRange(-1, 1).Draw(t, "off")), 0), level.MaxXP)
	})
}

func TestNoChangeOfLevelIsMissed(t *testing.T) {
	withLog(t, func(t *testing.T, s *redisstore.Store) {
		_, err := s.Create(t.Context(), guild1, user1, leaderboard.Creation{})
		ok(t, err)
		l := logOf(t, s)
		moves, others, needless := 0, 0, 0
		rapid.Check(t, func(rt *rapid.T) {
			c := curves().Draw(rt, "curve")
			for range 10 {
				before := xp(c).Draw(rt, "before")
				after := xp(c).Draw(rt, "after")
				if rapid.Bool().Draw(rt, "a step") {
					after = min(before+level.XP(rapid.IntRange(0, 1000).Draw(rt, "gain")), level.MaxXP)
				}
				_, err := s.Change(t.Context(), guild1, user1, leaderboard.Change{Op: leaderboard.Set, Amount: before})
				ok(t, err)
				_, err = s.Change(t.Context(), guild1, user1, leaderboard.Change{Op: leaderboard.Set, Amount: after, Curve: &c})
				ok(t, err)
				noted := l.Next()
				moved := c.LevelAt(after) != c.LevelAt(before)
				switch {
				case moved && !slices.Equal(noted, []events.Entry{{User: user1, Before: before, After: after}}):
					rt.Fatalf("the change from %d to %d is level %d to %d, but the log has %v", before, after, c.LevelAt(before), c.LevelAt(after), noted)
				case after == before && len(noted) > 0:
					rt.Fatalf("the XP stays %d, but the log has %v", before, noted)
				case moved:
					moves++
				case after != before:
					others++
					needless += len(noted)
				}
			}
		})
		// Curves beyond the precision of floats log everything, all others almost nothing. With -short there are 200 steps.
		if moves < 40 || others < 20 || needless*3 > others*2 {
			t.Errorf("%d changes of level, and %d of %d others are in the log, want 40 or more, and few others", moves, needless, others)
		}
	})
}

// For presets and curves of few digits the log has exactly the level-ups.
func TestOnlyLevelUpsOfOrdinaryCurvesAreNoted(t *testing.T) {
	withLog(t, func(t *testing.T, s *redisstore.Store) {
		_, err := s.Create(t.Context(), guild1, user1, leaderboard.Creation{})
		ok(t, err)
		l := logOf(t, s)
		var all []level.Curve
		for _, coefficients := range [][]float64{{150, -100, 50}, {55, -40, 20}, {0, 75.83, 22.5, 1.667}, {0, 100}, {10, 0.5, 0.5}, {0, 10, 1, 0.1, 0.01}} {
			c, err := level.NewCurve(coefficients)
			ok(t, err)
			all = append(all, c)
		}
		for _, c := range all {
			for n := level.Level(1); n <= c.LevelAt(level.MaxXP); n = n*3/2 + 1 {
				start := c.XPFor(n)
				for _, step := range [][2]level.XP{{start - 1, start}, {start, start + 1}, {start, c.XPFor(n+1) - 1}, {c.XPFor(n - 1), start - 1}} {
					before, after := step[0], min(step[1], level.MaxXP)
					_, err := s.Change(t.Context(), guild1, user1, leaderboard.Change{Op: leaderboard.Set, Amount: before})
					ok(t, err)
					_, err = s.Change(t.Context(), guild1, user1, leaderboard.Change{Op: leaderboard.Set, Amount: after, Curve: &c})
					ok(t, err)
					if noted, up := len(l.Next()) == 1, c.LevelAt(after) > c.LevelAt(before); noted != up {
						t.Errorf("%v from %d to %d: logged %v, want %v", c.Coefficients(), before, after, noted, up)
					}
				}
			}
		}
	})
}

func TestTheLogHasEachKindOfEvent(t *testing.T) {
	withLog(t, func(t *testing.T, s *redisstore.Store) {
		ctx, curve := t.Context(), &level.Curve{}
		l := logOf(t, s)
		want := func(what string, want ...events.Entry) {
			t.Helper()
			if got := l.Next(); !slices.Equal(got, want) {
				t.Errorf("after %s the log has %v, want %v", what, got, want)
			}
		}
		once := named("key").Once
		for range 2 { // the second is a repeat
			_, err := s.Create(ctx, guild1, user1, leaderboard.Creation{XP: 150, Curve: curve, Once: once})
			ok(t, err)
		}
		want("a creation that is sent again", events.Entry{User: user1, After: 150, Silent: true})
		_, err := s.Change(ctx, guild1, user1, leaderboard.Change{Op: leaderboard.Decrement, Amount: 149, Curve: curve})
		ok(t, err)
		want("a decrement", events.Entry{User: user1, Before: 150, After: 1})
		_, err = s.Change(ctx, guild1, user1, leaderboard.Change{Op: leaderboard.Increment, Amount: 5000})
		ok(t, err)
		want("a change without a curve")
		award := leaderboard.Awards{Curve: curve, Members: []leaderboard.Award{
			{User: user1, Offers: []level.XP{1}}, {User: benchUser(2), Offers: []level.XP{60, 0, 300}, Channel: "300000000000000001"}, {User: benchUser(3), Offers: []level.XP{20, 0}},
		}, Once: named("messages").Once}
		for range 2 {
			_, _, err = s.Award(ctx, guild1, award)
			ok(t, err)
		}
		want("messages that are sent again", events.Entry{User: benchUser(2), After: 360, Channel: "300000000000000001"})
		_, err = s.Delete(ctx, guild1, user1, leaderboard.Removal{})
		ok(t, err)
		want("a delete", events.Entry{User: user1, Moved: events.Removed})
		_, err = s.SetPresence(ctx, guild1, leaderboard.Presence{Users: []id.User{benchUser(2), benchUser(3)}})
		ok(t, err)
		want("two leave", events.Entry{User: benchUser(2), Moved: events.Removed}, events.Entry{User: benchUser(3), Moved: events.Removed})
		puts := leaderboard.Puts{Mode: leaderboard.PutAdd, Curve: curve, Members: []leaderboard.Put{{User: benchUser(2), XP: 1000}, {User: benchUser(4), XP: 100}}}
		_, _, err = s.Put(ctx, guild1, puts)
		ok(t, err)
		want("what is put, to one who is not present too", events.Entry{User: benchUser(4), After: 100, Silent: true})
		_, err = s.SetPresence(ctx, guild1, leaderboard.Presence{Present: true, Users: []id.User{benchUser(2)}})
		ok(t, err)
		want("one comes back", events.Entry{User: benchUser(2), Moved: events.Returned, After: 1360})
		_, _, err = s.Award(ctx, guild1, leaderboard.Awards{Curve: curve, Members: []leaderboard.Award{{User: benchUser(3), Offers: []level.XP{1000}}}})
		ok(t, err)
		want("one comes back with a message", events.Entry{User: benchUser(3), Moved: events.Returned, After: 20}, events.Entry{User: benchUser(3), Before: 20, After: 1020})
		_, err = s.SetPresence(ctx, guild1, leaderboard.Presence{Users: []id.User{benchUser(3)}})
		ok(t, err)
		l.Next()
		_, err = s.Delete(ctx, guild1, benchUser(3), leaderboard.Removal{})
		ok(t, err)
		want("a delete of one who is not present")
		puts = leaderboard.Puts{Mode: leaderboard.PutSet, Curve: curve, Members: []leaderboard.Put{{User: benchUser(2), XP: 1360}, {User: benchUser(4), XP: 99}}}
		_, _, err = s.Put(ctx, guild1, puts)
		ok(t, err)
		want("one is put lower", events.Entry{User: benchUser(4), Before: 100, After: 99, Silent: true})
		other := guild1
		other.Incarnation++
		if x, err := s.Extent(ctx, other); err == nil {
			t.Errorf("reading the log of another incarnation: %+v, want an error", x)
		}
	})
}

// A full log keeps its last events, and tells readers that earlier ones are gone.
func TestAFullLogKeepsItsLastEvents(t *testing.T) {
	withLog(t, func(t *testing.T, s *redisstore.Store) {
		award := leaderboard.Awards{Curve: &level.Curve{}}
		for i := range leaderboard.MaxAwards {
			award.Members = append(award.Members, leaderboard.Award{User: benchUser(i), Offers: []level.XP{1_000_000}})
		}
		for range events.KeptEvents/leaderboard.MaxAwards + 2 {
			_, _, err := s.Award(t.Context(), guild1, award)
			ok(t, err)
		}
		x, err := s.Extent(t.Context(), guild1)
		ok(t, err)
		if x.Count < events.KeptEvents || x.Count > events.KeptEvents+200 || x.Oldest.Compare(x.Newest) >= 0 {
			t.Errorf("the log has %d events from %v to %v, want %d or a few more", x.Count, x.Oldest, x.Newest, events.KeptEvents)
		}
	})
}

// After a load without a log, each reader with an earlier cursor gets one gap at once. Redis keeps no log until the first event.
func TestALoadWithoutALogIsMarked(t *testing.T) {
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		s := redisstore.New(client, redisstore.Options{})
		before := boards.LogFromStart(t, s)
		load(t, s, row(user1))
		if n := client.XLen(t.Context(), prefix+"events:77").Val(); n != 0 {
			t.Error("a guild without an event has a log")
		}
		now := logOf(t, s)
		if got := now.Next(); len(got) != 0 {
			t.Errorf("a reader that starts after the load gets %+v, want nothing", got)
		}
		lost := []events.Entry{{Reset: events.Lost}}
		if got := before.Next(); !slices.Equal(got, lost) {
			t.Errorf("a reader from before the load gets %+v, want %v", got, lost)
		}
		if got := before.Next(); len(got) != 0 {
			t.Errorf("after the gap the reader gets %+v, want nothing", got)
		}

		_, err := s.Change(t.Context(), guild1, user1, up)
		ok(t, err)
		gained := []events.Entry{{User: user1, Before: 100, After: 1100}}
		for who, l := range map[string]*boards.Log{"who was there before": before, "who begins after the load": now} {
			if got := l.Next(); !slices.Equal(got, gained) {
				t.Errorf("after a level-up %s gets %+v, want %v", who, got, gained)
			}
		}
		late := boards.LogFromStart(t, s)
		if got := late.Next(); !slices.Equal(got, append(lost, gained...)) {
			t.Errorf("a reader who comes back later gets %+v, want the gap and the level-up", got)
		}
		if left := client.HGet(t.Context(), meta, "marked").Val(); left != "" {
			t.Errorf("the gap is in the log and its mark is still in meta: %s", left)
		}
	})
}
