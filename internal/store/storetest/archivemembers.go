package storetest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

func row(user id.User, xp level.XP) snapshot.Row {
	return snapshot.Row{Member: leaderboard.Member{UserID: user, XP: xp}}
}

func tombstone(user id.User) snapshot.Row {
	return snapshot.Row{Member: leaderboard.Member{UserID: user}, Deleted: true}
}

func writeRows(t *testing.T, a store.Archive, l lease.Lease, g *guild.Guild, epoch, rev int64, rows ...snapshot.Row) {
	t.Helper()
	must(t, snapshot.WriteBatch(t.Context(), a, l, snapshot.Batch{Guild: refOf(g), Epoch: epoch, Rev: rev, Known: math.MaxInt64, Rows: rows}))
}

func wantState(t *testing.T, a store.Archive, g *guild.Guild, epoch, archived int64) {
	t.Helper()
	if s, err := a.State(t.Context(), refOf(g)); err != nil || s.Epoch != epoch || s.Archived != archived {
		t.Errorf("the state is %+v (%v), want epoch %d, archived %d", s, err, epoch, archived)
	}
}

func archiveMembers(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	avatar, empty, name, colour := "a_0123456789abcdef0123456789abcdef", "", "Ünï \"q\" \\ 😀\n\x01", "#ff00aa"
	want := []snapshot.Row{
		{
			Member: leaderboard.Member{
				UserID: "300000000000000002", XP: level.MaxXP, MessageCount: 1 << 40, LastUpdated: time.UnixMilli(1767225600123).UTC(),
				User: leaderboard.User{Avatar: &avatar, Discriminator: "0001", GlobalName: &name, Username: name, AccentColour: &colour},
			},
			CooldownUntil: time.UnixMilli(1767225660123).UTC(), Absent: true,
		},
		{Member: leaderboard.Member{UserID: "30000000000000001", XP: 0}}, // shorter, but sorts after the first
		{Member: leaderboard.Member{UserID: "9999999999999999999", XP: 5, User: leaderboard.User{Avatar: &empty, GlobalName: &empty}}},
	}
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 3, want[2], want[0], want[1])
	if got := allMembers(t, a, g); !reflect.DeepEqual(got, want) {
		t.Errorf("the members are\n%+v, want\n%+v", got, want)
	}
	wantState(t, a, g, 0, 3)
	// A member returns, or is deleted while absent. A new entry is present again.
	want[0].Absent, want[1].Absent = false, true
	writeRows(t, a, l, g, 0, 4, want[0], want[1])
	if got := allMembers(t, a, g); !reflect.DeepEqual(got, want) {
		t.Errorf("after changes of presence the members are\n%+v, want\n%+v", got, want)
	}
	writeRows(t, a, l, g, 0, 5, tombstone(want[1].UserID))
	want[1].Absent = false
	writeRows(t, a, l, g, 0, 6, want[1])
	if got := allMembers(t, a, g); !reflect.DeepEqual(got, want) {
		t.Errorf("after a deletion and a new entry the members are\n%+v, want\n%+v", got, want)
	}
}

func archiveRevs(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 10, row("300000000000000001", 10), row("300000000000000002", 10))
	writeRows(t, a, l, g, 0, 9, row("300000000000000001", 9), row("300000000000000003", 9))
	writeRows(t, a, l, g, 0, 10, row("300000000000000001", 8))
	writeRows(t, a, l, g, 0, 11, row("300000000000000002", 11))
	writeRows(t, a, l, g, 0, 12)
	var got []level.XP
	for _, r := range allMembers(t, a, g) {
		got = append(got, r.XP)
	}
	if want := []level.XP{10, 11, 9}; !slices.Equal(got, want) {
		t.Errorf("the XP are %v, want %v", got, want)
	}
	wantState(t, a, g, 0, 12)
	// A live store that knows a lower rev than the archive has gone back, however new its batch's rev is.
	b := snapshot.Batch{Guild: refOf(g), Rev: 50, Known: 11, Rows: []snapshot.Row{row("300000000000000001", 50)}}
	if err := snapshot.WriteBatch(t.Context(), a, l, b); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("a batch of a live store that went back: %v, want snapshot.ErrStale", err)
	}
	wantState(t, a, g, 0, 12)
	// A load raises the epoch, but not from a state that has changed since.
	if _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Archived: 11}, hydrate.Reloaded); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("raising a state that a batch has changed since: %v, want snapshot.ErrStale", err)
	}
	wantState(t, a, g, 0, 12)
	if s, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Archived: 12}, hydrate.Reloaded); err != nil || s != (snapshot.State{Epoch: 1, Archived: 12}) {
		t.Fatalf("raising the epoch made %+v (%v), want epoch 1, archived 12", s, err)
	}
	writeRows(t, a, l, g, 1, 1, row("300000000000000001", 1))
	if got := allMembers(t, a, g)[0].XP; got != 1 {
		t.Errorf("after a batch of a newer epoch the XP are %d, want 1, though the older rev was higher", got)
	}
}

func archivePieces(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	other := put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	const total, batch = 12000, 4000
	for from := 0; from < total; from += batch {
		var rows []snapshot.Row
		for i := from; i < from+batch; i++ {
			rows = append(rows, row(id.User(fmt.Sprintf("3%017d", i)), level.XP(i)))
		}
		writeRows(t, a, l, g, 0, int64(from+1), rows...)
	}
	writeRows(t, a, l, other, 0, 1, row("300000000000000001", 1))
	next, after := 0, id.User("")
	for {
		rows := mustGet(a.Members(t.Context(), refOf(g), after, 999))(t)
		for _, r := range rows {
			if r.XP != level.XP(next) {
				t.Fatalf("member %d has %d XP, want %d", next, r.XP, next)
			}
			next++
			after = r.UserID
		}
		if len(rows) < 999 {
			break
		}
	}
	if next != total {
		t.Errorf("%d members were read, want %d", next, total)
	}
}
