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
			b.Errorf("request %d again: %+v, %v, want %+v", i, got, err, want[i])
		}
	}
	if m := b.member(userN(1)); m.XP != 3 {
		b.Errorf("%d XP after old requests came again, want 3", m.XP)
	}

	// The message count is that of then, too.
	o, err := b.Change(b.Context(), b.g, userN(2), plus(1, "messages"))
	if want := (leaderboard.Outcome{Before: 9, After: 10, MessageCount: 2}); err != nil || o != want {
		b.Errorf("outcome %+v, %v, want %+v", o, err, want)
	}
	b.delete(userN(2))
	o, err = b.Change(b.Context(), b.g, userN(2), plus(1, "messages"))
	if want := (leaderboard.Outcome{Before: 9, After: 10, MessageCount: 2, Replayed: true}); err != nil || o != want {
		b.Errorf("outcome %+v, %v of a member that is gone, want %+v", o, err, want)
	}
}

func failedIsNotRecorded(b *board) {
	ctx := b.Context()
	_, err := b.Change(ctx, b.g, userN(1), plus(1, "not loaded"))
	b.wants("change", err, leaderboard.ErrNotLoaded)
	b.load(rowN(1, 10))
	if o := b.change(userN(1), plus(1, "not loaded")); o.Replayed || o.After != 11 {
		b.Errorf("after the guild was loaded: %+v", o)
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
		b.Errorf("a change that failed, again: %+v", o)
	}
	if o, err := b.Create(ctx, b.g, userN(1), creation); err != nil || o.Replayed || o.After != 7 {
		b.Errorf("a creation that failed, again: %+v, %v", o, err)
	}
	if replayed, err := b.Delete(ctx, b.g, userN(2), leaderboard.Removal{Once: onceOf("nobody to delete", 1)}); err != nil || replayed {
		b.Errorf("a deletion that failed, again: replayed %v, %v", replayed, err)
	}

	// And its key is free for another request.
	_, err = b.Change(ctx, b.g, userN(9), plus(1, "free"))
	b.wants("change", err, leaderboard.ErrNoMember)
	if o := b.change(userN(1), plus(2, "free")); o.Replayed || o.After != 9 {
		b.Errorf("another request under the key of one that failed: %+v", o)
	}
}
