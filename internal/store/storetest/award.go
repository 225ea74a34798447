package storetest

import (
	"reflect"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

var awardCases = []boardCase{
	{"awards", awards},
	{"an award waits for the cooldown", awardCooldown},
	{"an award ends at the highest XP", awardCap},
	{"messages end at the highest count", awardCountCap},
	{"awards update user data", awardUserData},
	{"a step may have many members", awardStep},
	{"awards are all or nothing", awardAllOrNothing},
	{"an award waits for the snapshot", awardIsAChange},
	{"a repeated award is made once", awardOnce},
}

func offer(user id.User, offers ...level.XP) leaderboard.Award {
	return leaderboard.Award{User: user, Offers: offers}
}

// award awards in one step, and fails unless the results are want.
func (b *board) award(a leaderboard.Awards, want ...leaderboard.Awarded) {
	b.Helper()
	got, replayed, err := b.Award(b.Context(), b.g, a)
	if err != nil || replayed || !reflect.DeepEqual(got, want) {
		b.Fatalf("the awards are %+v, replayed %v (%v), want %+v", got, replayed, err, want)
	}
}

func gave(before level.XP, messages int64, gained ...level.XP) leaderboard.Awarded {
	return leaderboard.Awarded{Before: before, MessageCount: messages, Gained: gained}
}

// gaveNew is the result for a member that the award created.
func gaveNew(gained ...level.XP) leaderboard.Awarded {
	return leaderboard.Awarded{Created: true, Gained: gained}
}

func (b *board) wantMember(user id.User, xp level.XP, messages int64) leaderboard.Ranked {
	b.Helper()
	m := b.member(user)
	if m.XP != xp || m.MessageCount != messages {
		b.Errorf("member %s has %d XP and %d messages, want %d and %d", user, m.XP, m.MessageCount, xp, messages)
	}
	return m
}

func awardCountCap(b *board) {
	row := rowN(1, 100)
	row.MessageCount = 1<<31 - 2
	b.load(row)
	for range 2 {
		_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: []leaderboard.Award{offer(userN(1), 0, 0)}})
		b.must(err)
		b.wantMember(userN(1), 100, 1<<31-1)
	}
}

func awards(b *board) {
	_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: []leaderboard.Award{offer(userN(1), 1)}})
	b.wants("in a guild that is not loaded", err, leaderboard.ErrNotLoaded)
	b.load(rowN(1, 100), rowN(2, 200)) // with 1 and 2 messages
	began := time.Now().Add(-time.Minute)
	b.award(leaderboard.Awards{Members: []leaderboard.Award{
		offer(userN(2), 20), offer(userN(3), 5, 0, 7), offer(userN(1), 0), offer(userN(4), 0),
	}}, gave(200, 2, 20), gaveNew(5, 0, 7), gave(100, 1, 0), gaveNew(0))
	for i, want := range []struct {
		xp       level.XP
		messages int64
	}{{100, 2}, {220, 3}, {12, 3}, {0, 1}} {
		m := b.wantMember(userN(i+1), want.xp, want.messages)
		if m.LastUpdated.Before(began) {
			b.Errorf("member %d was last updated %v, want during the test", i+1, m.LastUpdated)
		}
	}
	if p := b.page(0, 10); len(p.Rows) != 4 || p.Rows[0].UserID != userN(2) || p.Rows[3].UserID != userN(4) {
		b.Errorf("the page is %+v, want members 2, 1, 3 and 4", p.Rows)
	}
}

func awardCooldown(b *board) {
	b.load(rowN(1, 0), rowN(2, 0), rowN(3, 0), rowN(4, 0))
	const hour = time.Hour
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Increment, Amount: 1, Cooldown: hour})
	hold := func(cooldown time.Duration, members ...leaderboard.Award) leaderboard.Awards {
		return leaderboard.Awards{Members: members, Cooldown: cooldown}
	}
	// The first message worth anything starts the cooldown, also for later messages in the same call.
	b.award(hold(hour, offer(userN(1), 0, 10, 20), offer(userN(2), 30), offer(userN(3), 0), offer(userN(5), 1, 1)),
		gave(0, 1, 0, 10, 0), gave(1, 2, 0), gave(0, 3, 0), gaveNew(1, 0))
	// Messages worth nothing started none.
	b.award(hold(hour, offer(userN(1), 5), offer(userN(3), 6), offer(userN(5), 1)), gave(10, 4, 0), gave(0, 4, 6), gave(1, 2, 0))
	// A cooldown ends.
	b.award(hold(time.Millisecond, offer(userN(4), 1)), gave(0, 4, 1))
	testenv.Wait(b, "a cooldown of a millisecond ends", func() bool {
		got, _, err := b.Award(b.Context(), b.g, hold(0, offer(userN(4), 3)))
		b.must(err)
		return got[0].Gained[0] == 3
	})
	// A cooldown that ends later than the guild's interval from now, because the clock was set back, is cut to the interval.
	b.award(hold(hour, offer(userN(7), 1)), gaveNew(1))
	b.award(hold(hour/2, offer(userN(7), 1)), gave(1, 1, 0))
	testenv.Wait(b, "a cooldown that ends in an hour is cut to an interval of a millisecond", func() bool {
		got, _, err := b.Award(b.Context(), b.g, hold(time.Millisecond, offer(userN(7), 1)))
		b.must(err)
		return got[0].Gained[0] == 1
	})
	// Without a cooldown every message gives its worth.
	b.award(hold(0, offer(userN(6), 1, 2, 3)), gaveNew(1, 2, 3))
}

func awardCap(b *board) {
	most := level.MaxXP
	b.load(rowN(1, most-5), rowN(2, most), rowN(3, 1e8))
	b.award(leaderboard.Awards{Cooldown: time.Hour, Members: []leaderboard.Award{
		offer(userN(1), 20), offer(userN(2), 20), offer(userN(3), 125000),
	}}, gave(most-5, 1, 5), gave(most, 2, 0), gave(1e8, 3, 125000))
	b.wantMember(userN(1), most, 2)
	b.wantMember(userN(2), most, 3)
	b.wantMember(userN(3), 1e8+125000, 4)
	b.delete(userN(2))
	b.create(userN(2), most)
	b.award(leaderboard.Awards{Members: []leaderboard.Award{offer(userN(2), 3, 4)}}, gave(most, 0, 0, 0))
	// A message worth nothing started no cooldown.
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Decrement, Amount: 10})
	b.award(leaderboard.Awards{Members: []leaderboard.Award{offer(userN(2), 3, 20)}}, gave(most-10, 2, 3, 7))
}

func awardUserData(b *board) {
	b.load(rowN(1, 1), rowN(2, 2))
	global := "Ada"
	ada := &leaderboard.User{Discriminator: "0", Username: "ada", GlobalName: &global}
	kept := b.member(userN(2)).User
	b.award(leaderboard.Awards{Members: []leaderboard.Award{
		{User: userN(1), Offers: []level.XP{1}, Data: ada}, offer(userN(2), 1), offer(userN(3), 1), {User: userN(4), Offers: []level.XP{0}, Data: ada},
	}}, gave(1, 1, 1), gave(2, 2, 1), gaveNew(1), gaveNew(0))
	for i, want := range []leaderboard.User{*ada, kept, {}, *ada} {
		if got := b.member(userN(i + 1)).User; !reflect.DeepEqual(got, want) {
			b.Errorf("member %d has the user data %+v, want %+v", i+1, got, want)
		}
	}
	_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: []leaderboard.Award{
		offer(userN(1), 1), {User: userN(2), Offers: []level.XP{1}, Data: &leaderboard.User{Username: "a\x00b"}},
	}})
	if err == nil {
		b.Error("user data with a NUL was accepted")
	}
	b.wantMember(userN(1), 2, 2)
}
