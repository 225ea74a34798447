package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var awardCases = []boardCase{
	{"awards", awards},
	{"an award waits for the cooldown", awardCooldown},
	{"an award ends at the highest XP", awardCap},
	{"awards bring user data", awardUserData},
	{"awards of a whole step", awardStep},
	{"awards are all or nothing", awardAllOrNothing},
	{"awards are changes", awardIsAChange},
	{"an award that is asked for again", awardOnce},
	{"many awards at once", concurrentAwards},
}

func offer(user id.User, offers ...level.XP) leaderboard.Award {
	return leaderboard.Award{User: user, Offers: offers}
}

// award awards in one step and wants to be told that.
func (b *board) award(a leaderboard.Awards, want ...leaderboard.Awarded) {
	b.Helper()
	got, replayed, err := b.Award(b.Context(), b.g, a)
	if err != nil || replayed || !reflect.DeepEqual(got, want) {
		b.Fatalf("awarded %+v, replayed %v, %v; want %+v", got, replayed, err, want)
	}
}

func gave(before level.XP, messages int64, gained ...level.XP) leaderboard.Awarded {
	return leaderboard.Awarded{Before: before, MessageCount: messages, Gained: gained}
}

func (b *board) wantMember(user id.User, xp level.XP, messages int64) leaderboard.Ranked {
	b.Helper()
	m := b.member(user)
	if m.XP != xp || m.MessageCount != messages {
		b.Errorf("member %s: %d XP, %d messages; want %d, %d", user, m.XP, m.MessageCount, xp, messages)
	}
	return m
}

func awards(b *board) {
	_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: []leaderboard.Award{offer(userN(1), 1)}})
	b.wants("in a guild that is not loaded", err, leaderboard.ErrNotLoaded)
	b.load(rowN(1, 100), rowN(2, 200)) // with 1 and 2 messages
	began := time.Now().Add(-time.Minute)
	b.award(leaderboard.Awards{Members: []leaderboard.Award{
		offer(userN(2), 20), offer(userN(3), 5, 0, 7), offer(userN(1), 0), offer(userN(4), 0),
	}}, gave(200, 2, 20), gave(0, 0, 5, 0, 7), gave(100, 1, 0), gave(0, 0, 0))
	for i, want := range []struct {
		xp       level.XP
		messages int64
	}{{100, 2}, {220, 3}, {12, 3}, {0, 1}} {
		m := b.wantMember(userN(i+1), want.xp, want.messages)
		if m.LastUpdated.Before(began) {
			b.Errorf("member %d was last updated %v, want now", i+1, m.LastUpdated)
		}
	}
	if p := b.page(0, 10); len(p.Rows) != 4 || p.Rows[0].UserID != userN(2) || p.Rows[3].UserID != userN(4) {
		b.Errorf("page %+v, want members 2, 1, 3 and 4", p.Rows)
	}
}

func awardCooldown(b *board) {
	b.load(rowN(1, 0), rowN(2, 0), rowN(3, 0), rowN(4, 0))
	const hour = time.Hour
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Increment, Amount: 1, Cooldown: hour})
	hold := func(cooldown time.Duration, members ...leaderboard.Award) leaderboard.Awards {
		return leaderboard.Awards{Members: members, Cooldown: cooldown}
	}
	// The first message that is worth anything starts it, and those after it in the same call see it.
	b.award(hold(hour, offer(userN(1), 0, 10, 20), offer(userN(2), 30), offer(userN(3), 0), offer(userN(5), 1, 1)),
		gave(0, 1, 0, 10, 0), gave(1, 2, 0), gave(0, 3, 0), gave(0, 0, 1, 0))
	// What gave nothing started none.
	b.award(hold(hour, offer(userN(1), 5), offer(userN(3), 6), offer(userN(5), 1)), gave(10, 4, 0), gave(0, 4, 6), gave(1, 2, 0))
	// It ends.
	b.award(hold(time.Millisecond, offer(userN(4), 1)), gave(0, 4, 1))
	for deadline := time.Now().Add(10 * time.Second); ; {
		got, _, err := b.Award(b.Context(), b.g, hold(0, offer(userN(4), 3)))
		b.must(err)
		if got[0].Gained[0] == 3 {
			break
		}
		if time.Now().After(deadline) {
			b.Fatal("a cooldown of a millisecond does not end")
		}
	}
	// One that ends later than the guild's interval from now, since the clock was set back, is cut to the interval.
	b.award(hold(hour, offer(userN(7), 1)), gave(0, 0, 1))
	b.award(hold(hour/2, offer(userN(7), 1)), gave(1, 1, 0))
	for deadline := time.Now().Add(10 * time.Second); ; {
		got, _, err := b.Award(b.Context(), b.g, hold(time.Millisecond, offer(userN(7), 1)))
		b.must(err)
		if got[0].Gained[0] == 1 {
			break
		}
		if time.Now().After(deadline) {
			b.Fatal("a cooldown that ends in an hour outlasts an interval of a millisecond")
		}
	}
	// Without one, every message gives what it is worth.
	b.award(hold(0, offer(userN(6), 1, 2, 3)), gave(0, 0, 1, 2, 3))
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
	// What gave nothing started no cooldown.
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
	}}, gave(1, 1, 1), gave(2, 2, 1), gave(0, 0, 1), gave(0, 0, 0))
	for i, want := range []leaderboard.User{*ada, kept, {}, *ada} {
		if got := b.member(userN(i + 1)).User; !reflect.DeepEqual(got, want) {
			b.Errorf("member %d: user data %+v, want %+v", i+1, got, want)
		}
	}
	_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: []leaderboard.Award{
		offer(userN(1), 1), {User: userN(2), Offers: []level.XP{1}, Data: &leaderboard.User{Username: "a\x00b"}},
	}})
	if err == nil {
		b.Error("user data with a NUL was taken")
	}
	b.wantMember(userN(1), 2, 2)
}

// awardStep is as large as a step may be: as many members, with many messages, and the longest names.
func awardStep(b *board) {
	b.load()
	long := leaderboard.User{Discriminator: strings.Repeat("d", 256), Username: strings.Repeat("u", 256)}
	a := leaderboard.Awards{}
	var want []leaderboard.Awarded
	for i := range leaderboard.MaxAwards {
		m := leaderboard.Award{User: userN(i), Data: &long}
		w := leaderboard.Awarded{}
		for j := range 10 {
			m.Offers = append(m.Offers, level.XP(i+j))
			w.Gained = append(w.Gained, level.XP(i+j))
		}
		a.Members, want = append(a.Members, m), append(want, w)
	}
	b.award(a, want...)
	b.wantMember(userN(7), 7*10+45, 10)

	one := leaderboard.Award{User: userN(200)}
	for range 1000 {
		one.Offers = append(one.Offers, 3)
	}
	b.award(leaderboard.Awards{Members: []leaderboard.Award{one}}, leaderboard.Awarded{Gained: one.Offers})
	b.wantMember(userN(200), 3000, 1000)

	a.Members = append(a.Members, one)
	if _, _, err := b.Award(b.Context(), b.g, a); err == nil {
		b.Errorf("a step for %d members was taken", len(a.Members))
	}
	if _, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{}); err == nil {
		b.Error("a step for nobody was taken")
	}
}

func awardAllOrNothing(b *board) {
	b.load(rowN(1, 1))
	before := b.page(0, 10)
	for _, bad := range []level.XP{-1, level.MaxXP + 1} {
		_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: []leaderboard.Award{offer(userN(1), 1), offer(userN(2), bad)}})
		if err == nil {
			b.Errorf("an offer of %d was taken", bad)
		}
	}
	if after := b.page(0, 10); fmt.Sprint(after) != fmt.Sprint(before) {
		b.Errorf("after refused awards %+v, want %+v", after, before)
	}
}

func awardIsAChange(b *board) {
	b.load(rowN(1, 1), rowN(2, 2))
	b.changedGuilds()
	before := b.version()
	b.award(leaderboard.Awards{Members: []leaderboard.Award{offer(userN(1), 0), offer(userN(3), 4)}, Cooldown: time.Hour},
		gave(1, 1, 0), gave(0, 0, 4))
	if after := b.version(); after.Rev <= before.Rev || after.Epoch != before.Epoch {
		b.Errorf("version %+v after %+v, want a later rev", after, before)
	}
	b.changedGuilds(b.g.ID)
	rows := b.flushAll()
	slices.SortFunc(rows, func(x, y snapshot.Row) int { return strings.Compare(string(x.UserID), string(y.UserID)) })
	if len(rows) != 2 || rows[0].UserID != userN(1) || rows[0].MessageCount != 2 || rows[1].XP != 4 || rows[1].CooldownUntil.IsZero() {
		b.Errorf("the snapshot has %+v, want members 1 and 3 with what they have now", rows)
	}
	// Again the first change since.
	b.award(leaderboard.Awards{Members: []leaderboard.Award{offer(userN(1), 1)}}, gave(1, 2, 1))
	b.changedGuilds(b.g.ID)
	b.award(leaderboard.Awards{Members: []leaderboard.Award{offer(userN(2), 1)}}, gave(2, 2, 1))
	b.changedGuilds()
}

func awardOnce(b *board) {
	ctx := b.Context()
	b.load(rowN(1, 1))
	request := onceOf("call", 1)
	step := func(part int, members ...leaderboard.Award) leaderboard.Awards {
		return leaderboard.Awards{Members: members, Cooldown: time.Hour, Once: request.Step(part)}
	}
	first := step(0, offer(userN(1), 5, 5), offer(userN(2), 7))
	b.award(first, gave(1, 1, 5, 0), gave(0, 0, 7))
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Set, Amount: 1000})
	// What the messages are worth is drawn anew, and does not matter.
	again := step(0, offer(userN(1), 9, 9), offer(userN(2), 9))
	got, replayed, err := b.Award(ctx, b.g, again)
	if want := []leaderboard.Awarded{gave(1, 1, 5, 0), gave(0, 0, 7)}; err != nil || !replayed || !reflect.DeepEqual(got, want) {
		b.Errorf("again: %+v, %v, %v, want %+v", got, replayed, err, want)
	}
	b.wantMember(userN(1), 1000, 3)
	b.wantMember(userN(2), 7, 1)

	b.award(step(1, offer(userN(3), 2)), gave(0, 0, 2))
	if _, replayed, err = b.Award(ctx, b.g, step(1, offer(userN(3), 2))); err != nil || !replayed {
		b.Errorf("the second step again: %v, %v", replayed, err)
	}
	b.wantMember(userN(3), 2, 1)

	other := first
	other.Once.Request = leaderboard.DigestOf([]byte("another"))
	_, _, err = b.Award(ctx, b.g, other)
	b.wants("another request under the key", err, leaderboard.ErrKeyReused)
	_, err = b.Change(ctx, b.g, userN(1), plus(2, "call"))
	b.wants("a change under the key", err, leaderboard.ErrKeyReused)
	elsewhere := leaderboard.GuildRef{ID: "100000000000000002", Incarnation: 1}
	b.hydrate(elsewhere, snapshot.State{Epoch: 1})
	_, _, err = b.Award(ctx, elsewhere, first)
	b.wants("the key in another guild", err, leaderboard.ErrKeyReused)
}

func concurrentAwards(b *board) {
	b.load()
	const callers, calls = 8, 25
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for call := range calls {
				members := []leaderboard.Award{offer(userN(0), 1, 2), offer(userN(1+caller), 3), offer(userN(100+call), 1)}
				if _, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: members}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	b.wantMember(userN(0), 3*callers*calls, 2*callers*calls)
	b.wantMember(userN(callers), 3*calls, calls)
	b.wantMember(userN(100), callers, callers)
}
