package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// awardStep is the largest step: the most members, many messages each, and the longest names.
func awardStep(b *board) {
	b.load()
	long := leaderboard.User{Discriminator: strings.Repeat("d", 256), Username: strings.Repeat("u", 256)}
	a := leaderboard.Awards{}
	var want []leaderboard.Awarded
	for i := range leaderboard.MaxAwards {
		m := leaderboard.Award{User: userN(i), Data: &long}
		w := gaveNew()
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
	b.award(leaderboard.Awards{Members: []leaderboard.Award{one}}, gaveNew(one.Offers...))
	b.wantMember(userN(200), 3000, 1000)

	a.Members = append(a.Members, one)
	if _, _, err := b.Award(b.Context(), b.g, a); err == nil {
		b.Errorf("a step of %d members was accepted", len(a.Members))
	}
	if _, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{}); err == nil {
		b.Error("a step without members was accepted")
	}
}

func awardAllOrNothing(b *board) {
	b.load(rowN(1, 1))
	before := b.page(0, 10)
	for _, bad := range []level.XP{-2, level.MaxXP + 1} {
		_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: []leaderboard.Award{offer(userN(1), 1), offer(userN(2), bad)}})
		if err == nil {
			b.Errorf("an offer of %d XP was accepted", bad)
		}
	}
	if after := b.page(0, 10); fmt.Sprint(after) != fmt.Sprint(before) {
		b.Errorf("after refused awards the page is %+v, want %+v", after, before)
	}
}

func awardIsAChange(b *board) {
	b.load(rowN(1, 1), rowN(2, 2))
	b.changedGuilds()
	before := b.version()
	b.award(leaderboard.Awards{Members: []leaderboard.Award{offer(userN(1), 0), offer(userN(3), 4)}, Cooldown: time.Hour},
		gave(1, 1, 0), gaveNew(4))
	if after := b.version(); after.Rev <= before.Rev || after.Epoch != before.Epoch {
		b.Errorf("the award changed the version from %+v to %+v, want a later rev", before, after)
	}
	b.changedGuilds(b.g.ID)
	rows := b.flushAll()
	slices.SortFunc(rows, func(x, y snapshot.Row) int { return strings.Compare(string(x.UserID), string(y.UserID)) })
	if len(rows) != 2 || rows[0].UserID != userN(1) || rows[0].MessageCount != 2 || rows[1].XP != 4 || rows[1].CooldownUntil.IsZero() {
		b.Errorf("the snapshot has %+v, want members 1 and 3 as they are now", rows)
	}
	b.award(leaderboard.Awards{Members: []leaderboard.Award{offer(userN(1), 1)}}, gave(1, 2, 1))
	b.changedGuilds(b.g.ID)
}
