package storetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/signin"
	"levelboard/internal/usecase/snapshot"
)

var eraseCases = []boardCase{
	{"an erased member leaves the guild", erasedMember},
	{"an erased member's requests are gone", erasedRequests},
	{"an erased member's events are gone", erasedEvents},
	{"an erased user's sessions end", erasedAccess},
}

// erase erases a user from the guild and returns what was noted.
func (b *board) erase(user id.User, always bool) erasure.Searched {
	b.Helper()
	found := b.EraseMember(b.Context(), []id.Guild{b.g.ID}, user, always)
	if len(found) != 1 || found[0].Err != nil {
		b.Fatalf("the erasure returned %+v, want one answer without an error", found)
	}
	return found[0]
}

func erasedMember(b *board) {
	user, other := userN(1), userN(2)
	if found := b.erase(user, true); found != (erasure.Searched{}) {
		b.Errorf("in a guild that is not loaded the erasure found %+v", found)
	}
	b.load(row(user, 100), row(other, 50))
	c := ahead(0)
	b.wantGains(c, period.Daily, nil)
	b.gain(user, leaderboard.Increment, 30, c)
	b.gain(other, leaderboard.Increment, 5, c)
	b.wantGains(c, period.Daily, gains{user: 30, other: 5})
	b.flushAll()
	entries, err := b.Entries(b.Context(), []id.Guild{b.g.ID, "999999999999999999"}, user)
	if err != nil || len(entries) != 1 || entries[0].Guild != b.g || entries[0].Row.XP != 130 || entries[0].Row.Deleted {
		b.Errorf("the user's entries are %+v (%v), want one with 130 XP", entries, err)
	}
	before := b.version()
	found := b.erase(user, false)
	if want := (erasure.Searched{Guild: b.g, Noted: true, Epoch: before.Epoch, Rev: before.Rev + 1}); found != want || b.version().Rev != want.Rev {
		b.Errorf("the erasure returned %+v, want %+v", found, want)
	}
	b.changedGuilds(b.g.ID)
	b.wantGains(c, period.Daily, gains{other: 5})
	if rows := b.flushAll(); len(rows) != 1 || !rows[0].Deleted || rows[0].UserID != user {
		b.Errorf("the flush has %+v, want a tombstone", rows)
	}
	if found := b.erase(user, false); found.Noted || found.Guild != b.g {
		b.Errorf("the repeated erasure returned %+v, want nothing noted", found)
	}
	if entries, err = b.Entries(b.Context(), []id.Guild{b.g.ID}, user); err != nil || len(entries) != 1 || !entries[0].Row.Deleted {
		b.Errorf("after the erasure the entries are %+v (%v), want a tombstone", entries, err)
	}
	// If the archive has an entry that this store lacks, the deletion is still noted.
	if found := b.erase(user, true); !found.Noted {
		b.Errorf("an erasure with always returned %+v, want it noted", found)
	}
	b.flushAll()
	b.leave(other)
	if found := b.erase(other, false); !found.Noted {
		b.Errorf("erasing an absent member returned %+v, want it noted", found)
	}
	b.create(other, 7)
}

func erasedRequests(b *board) {
	user, other := userN(1), userN(2)
	b.load()
	own := leaderboard.Creation{XP: 5, Once: onceOf("own", 1)}
	_, err := b.Create(b.Context(), b.g, user, own)
	b.must(err)
	both := leaderboard.Puts{Once: onceOf("both", 1), Mode: leaderboard.PutSet, Members: []leaderboard.Put{{User: user, XP: 8}, {User: other, XP: 9}}}
	_, _, err = b.Put(b.Context(), b.g, both)
	b.must(err)
	b.delete(user)
	// A user with a waiting deletion or journal entry leaves Redis with the next snapshot.
	if found := b.erase(user, false); !found.Noted {
		b.Errorf("the erasure returned %+v, want it noted", found)
	}
	b.flushAll()
	b.nothingWaits()
	if states, err := b.Archived(b.Context(), []id.Guild{b.g.ID, "999999999999999999"}); err != nil || states[0].Archived != b.version().Rev || states[1] != (snapshot.State{}) {
		b.Errorf("the archived states are %+v (%v), want the guild's rev and none", states, err)
	}
	if _, again, err := b.Put(b.Context(), b.g, both); err != nil || !again {
		b.Errorf("a request with other members was made again (replayed %v, %v)", again, err)
	}
	b.must(b.EraseRequests(b.Context(), []erasure.Request{{Guild: b.g.ID, Name: own.Once.Key}}))
	if out, err := b.Create(b.Context(), b.g, user, own); err != nil || out.Replayed {
		b.Errorf("the erased user's request is still known: %+v (%v)", out, err)
	}
}

func erasedEvents(b *board) {
	user, other := userN(1), userN(2)
	b.load(row(user, 0), row(other, 0))
	for range 300 { // more than one step reads
		for _, u := range []id.User{user, other} {
			b.change(u, leaderboard.Change{Op: leaderboard.Increment, Amount: 1e6, Curve: &level.Curve{}})
		}
	}
	b.create(userN(3), 0)
	b.leave(userN(3))
	b.must(b.Announce(b.Context(), b.g, []byte(`{"winners":[{"userId":"`+string(userN(3))+`"}]}`)))
	b.leave(user)
	b.comeBack(user)
	b.delete(user)
	b.must(b.Announce(b.Context(), b.g, []byte(`{"winners":[{"userId":"`+string(user)+`"}]}`)))
	b.must(b.Announce(b.Context(), b.g, []byte(`{"winners":[{"userId":"`+string(other)+`"}]}`)))
	// Events after the erasure stay.
	for _, until := range []time.Duration{-time.Hour, time.Hour} {
		b.must(b.EraseOldEvents(b.Context(), func(_ context.Context, users []id.User) (map[id.User]hydrate.Erasure, error) {
			if slices.Contains(users, userN(3)) {
				return map[id.User]hydrate.Erasure{userN(3): {Until: time.Now().Add(until)}}, nil
			}
			return nil, nil
		}))
		all, err := b.ReadEvents(b.Context(), []events.Cursor{{Guild: b.g}}, 10_000)
		b.must(err)
		left := 0
		for _, e := range all[0] {
			if e.User == userN(3) || strings.Contains(e.Period, string(userN(3))) {
				left++
			}
		}
		if want := map[time.Duration]int{-time.Hour: 2}[until]; left != want {
			b.Errorf("an erasure up to %v from now leaves %d of the user's events, want %d", until, left, want)
		}
	}
	b.must(b.EraseEvents(b.Context(), user))
	read, err := b.ReadEvents(b.Context(), []events.Cursor{{Guild: b.g}}, 10_000)
	b.must(err)
	changes, periods := 0, 0
	for _, e := range read[0] {
		if e.User == user || strings.Contains(e.Period, string(user)) {
			b.Fatalf("the event log still has %+v", e)
		}
		if e.User == other {
			changes++
		}
		if e.Period != "" {
			periods++
		}
	}
	if changes != 300 || periods != 1 {
		b.Errorf("of others %d changes and %d periods are left, want 300 and 1", changes, periods)
	}
}

func erasedAccess(b *board) {
	user, other, now := userN(1), userN(2), time.Now()
	put := func(n byte, user id.User, began time.Time) signin.Hash {
		b.Helper()
		h := signin.Hash{n}
		kept := signin.Kept{Hash: h, User: user, Sealed: []byte{n}, Ends: began.Add(signin.LifeTime)}
		b.must(b.PutSession(b.Context(), kept, time.Hour, signin.PutOptions{Limit: 20, Now: now}))
		return h
	}
	there := func(h signin.Hash) bool {
		_, err := b.Session(b.Context(), h)
		return err == nil
	}
	before, after, others := put(1, user, now.Add(-time.Hour)), put(2, user, now), put(3, other, now.Add(-time.Hour))
	if n, err := b.CountSessions(b.Context(), user); err != nil || n != 2 {
		b.Errorf("the user has %d sessions (%v), want 2", n, err)
	}
	var users []id.User
	b.must(b.SessionUsers(b.Context(), func(some []id.User) error { users = append(users, some...); return nil }))
	slices.Sort(users)
	if !slices.Equal(users, []id.User{user, other}) {
		b.Errorf("users with sessions are %v, want %v", users, []id.User{user, other})
	}
	b.must(b.EndSessionsBefore(b.Context(), user, now.Add(-time.Minute)))
	if there(before) || !there(after) || !there(others) {
		b.Error("want only the session from before the erasure to end")
	}
	b.must(b.EraseAccess(b.Context(), user, []string{"Abc123xyzZ09"}))
	if n, err := b.CountSessions(b.Context(), user); err != nil || n != 0 || there(after) || !there(others) {
		b.Errorf("the user has %d sessions (%v), want 0, and another user's kept", n, err)
	}
	one, err := b.Lives(b.Context())
	b.must(err)
	if two, err := b.Lives(b.Context()); err != nil || two != one || one == "" {
		b.Errorf("the servers' run ids are %q, then %q (%v), want the same", one, two, err)
	}
	if at, err := b.Clock(b.Context()); err != nil || at.Sub(now).Abs() > time.Hour {
		b.Errorf("the clock is %v (%v), want within an hour of now", at, err)
	}
}
