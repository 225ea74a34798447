package storetest

import (
	"errors"
	"math"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// archiveBadRows are rows that a live store would not take back, or that are no text.
func archiveBadRows(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	good := row("300000000000000001", 1)
	refused := func(name string, bad snapshot.Row) {
		t.Helper()
		b := snapshot.Batch{Guild: refOf(g), Rev: 5, Known: math.MaxInt64, Rows: []snapshot.Row{good, bad}}
		for method, call := range map[string]func() error{
			"write":   func() error { return snapshot.WriteBatch(t.Context(), a, l, b) },
			"salvage": func() error { return a.Salvage(t.Context(), snapshot.State{}, b) },
		} {
			if err := call(); !errors.Is(err, snapshot.ErrBadRow) {
				t.Errorf("%s %s: %v", method, name, err)
			}
		}
		wantState(t, a, g, 0, 0)
		if rows := allMembers(t, a, g); len(rows) > 0 {
			t.Errorf("%s left %+v", name, rows)
		}
	}
	for _, user := range []id.User{"", "3", "30000000000000000\x00", "3000000000000000\xff", "300000000000000000000000001"} {
		refused("an entry of a user whose id is no id", row(user, 1))
		refused("a tombstone of a user whose id is no id", tombstone(user))
	}
	for name, spoil := range map[string]func(r *snapshot.Row){
		"negative XP":              func(r *snapshot.Row) { r.XP = -1 },
		"XP above the highest":     func(r *snapshot.Row) { r.XP = level.MaxXP + 1 },
		"a negative message count": func(r *snapshot.Row) { r.MessageCount = -1 },
		"an update before 1970":    func(r *snapshot.Row) { r.LastUpdated = time.UnixMilli(-1) },
		"a cooldown before 1970":   func(r *snapshot.Row) { r.CooldownUntil = time.UnixMilli(-1) },
	} {
		bad := row("300000000000000002", 1)
		spoil(&bad)
		refused(name, bad)
	}
	for _, text := range []string{"a\x00b", "a\xffb", "\xed\xa0\x80"} {
		for _, user := range []leaderboard.User{{Avatar: &text}, {Discriminator: text}, {GlobalName: &text}, {Username: text}, {AccentColour: &text}} {
			bad := row("300000000000000002", 1)
			bad.User = user
			refused("user data that is not text", bad)
		}
	}
	writeRows(t, a, l, g, 0, 5, good)
	if rows := allMembers(t, a, g); len(rows) != 1 {
		t.Errorf("without the bad row: %+v", rows)
	}
}
