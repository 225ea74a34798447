package storetest

import (
	"reflect"
	"time"

	"levelboard/internal/usecase/leaderboard"
)

func awardOnce(b *board) {
	ctx := b.Context()
	b.load(rowN(1, 1))
	request := onceOf("call", 1)
	step := func(part int, members ...leaderboard.Award) leaderboard.Awards {
		return leaderboard.Awards{Members: members, Cooldown: time.Hour, Once: request.Step(part)}
	}
	first := step(0, offer(userN(1), 5, 5), offer(userN(2), 7))
	b.award(first, gave(1, 1, 5, 0), gaveNew(7))
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Set, Amount: 1000})
	// The messages' XP was drawn again, and does not matter.
	again := step(0, offer(userN(1), 9, 9), offer(userN(2), 9))
	got, replayed, err := b.Award(ctx, b.g, again)
	if want := []leaderboard.Awarded{gave(1, 1, 5, 0), gaveNew(7)}; err != nil || !replayed || !reflect.DeepEqual(got, want) {
		b.Errorf("the repeated step gave %+v, replayed %v (%v), want a replay of %+v", got, replayed, err, want)
	}
	b.wantMember(userN(1), 1000, 3)
	b.wantMember(userN(2), 7, 1)

	b.award(step(1, offer(userN(3), 2)), gaveNew(2))
	if _, replayed, err = b.Award(ctx, b.g, step(1, offer(userN(3), 2))); err != nil || !replayed {
		b.Errorf("the repeated second step: replayed %v (%v), want true", replayed, err)
	}
	b.wantMember(userN(3), 2, 1)

	other := first
	other.Once.Request = leaderboard.DigestOf([]byte("another"))
	_, _, err = b.Award(ctx, b.g, other)
	b.wants("another request under the key", err, leaderboard.ErrKeyReused)
	_, err = b.Change(ctx, b.g, userN(1), plus(2, "call"))
	b.wants("a change under the key", err, leaderboard.ErrKeyReused)
}
