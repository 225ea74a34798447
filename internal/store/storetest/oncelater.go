package storetest

import "levelboard/internal/usecase/leaderboard"

func repeatedLater(b *board) {
	b.load(rowN(2, 9))
	calls, want := b.requests()
	for i, call := range calls {
		if _, err := call(); err != nil {
			b.Fatalf("request %d: %v", i, err)
		}
	}
	b.create(userN(1), 3)
	for i, call := range calls {
		want[i].Replayed = true
		if got, err := call(); err != nil || got != want[i] {
			b.Errorf("request %d repeated is %+v (%v), want %+v", i, got, err, want[i])
		}
	}
	if m := b.member(userN(1)); m.XP != 3 {
		b.Errorf("after repeats of old requests the member has %d XP, want 3", m.XP)
	}

	// A repeat has the message count of the first time too.
	o, err := b.Change(b.Context(), b.g, userN(2), plus(1, "messages"))
	if want := (leaderboard.Outcome{Before: 9, After: 10, MessageCount: 2}); err != nil || o != want {
		b.Errorf("the outcome is %+v (%v), want %+v", o, err, want)
	}
	b.delete(userN(2))
	o, err = b.Change(b.Context(), b.g, userN(2), plus(1, "messages"))
	if want := (leaderboard.Outcome{Before: 9, After: 10, MessageCount: 2, Replayed: true}); err != nil || o != want {
		b.Errorf("the outcome for a deleted member is %+v (%v), want %+v", o, err, want)
	}
}

func failedIsNotRecorded(b *board) {
	ctx := b.Context()
	_, err := b.Change(ctx, b.g, userN(1), plus(1, "not loaded"))
	b.wants("change", err, leaderboard.ErrNotLoaded)
	b.load(rowN(1, 10))
	if o := b.change(userN(1), plus(1, "not loaded")); o.Replayed || o.After != 11 {
		b.Errorf("a request repeated after the load is %+v, want it made, with 11 XP", o)
	}

	_, err = b.Change(ctx, b.g, userN(2), plus(5, "nobody"))
	b.wants("change", err, leaderboard.ErrNoMember)
	_, err = b.Delete(ctx, b.g, userN(2), leaderboard.Removal{Once: onceOf("nobody to delete", 1)})
	b.wants("delete", err, leaderboard.ErrNoMember)
	creation := leaderboard.Creation{XP: 7, Once: onceOf("exists", 1)}
	_, err = b.Create(ctx, b.g, userN(1), creation)
	b.wants("create", err, leaderboard.ErrMemberExists)

	b.create(userN(2), 100)
	b.delete(userN(1))
	if o := b.change(userN(2), plus(5, "nobody")); o.Replayed || o.After != 105 {
		b.Errorf("a failed change repeated is %+v, want it made, with 105 XP", o)
	}
	if o, err := b.Create(ctx, b.g, userN(1), creation); err != nil || o.Replayed || o.After != 7 {
		b.Errorf("a failed creation repeated is %+v (%v), want it made, with 7 XP", o, err)
	}
	if replayed, err := b.Delete(ctx, b.g, userN(2), leaderboard.Removal{Once: onceOf("nobody to delete", 1)}); err != nil || replayed {
		b.Errorf("a failed deletion repeated: replayed %v (%v), want it made", replayed, err)
	}

	// The key of a failed request can be used for another.
	_, err = b.Change(ctx, b.g, userN(9), plus(1, "free"))
	b.wants("change", err, leaderboard.ErrNoMember)
	if o := b.change(userN(1), plus(2, "free")); o.Replayed || o.After != 9 {
		b.Errorf("another request under a failed one's key is %+v, want it made, with 9 XP", o)
	}
}
