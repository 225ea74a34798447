package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
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

func writeRows(t *testing.T, a ArchiveStore, l lease.Lease, g *guild.Guild, epoch, rev int64, rows ...snapshot.Row) {
	t.Helper()
	if err := a.WriteBatch(t.Context(), l, snapshot.Batch{Guild: refOf(g), Epoch: epoch, Rev: rev, Known: math.MaxInt64, Rows: rows}); err != nil {
		t.Fatalf("write batch at epoch %d, rev %d: %v", epoch, rev, err)
	}
}

func wantState(t *testing.T, a ArchiveStore, g *guild.Guild, epoch, archived int64) {
	t.Helper()
	if s, err := a.State(t.Context(), refOf(g)); err != nil || s.Epoch != epoch || s.Archived != archived {
		t.Errorf("state %+v, %v; want epoch %d, archived %d", s, err, epoch, archived)
	}
}

func archiveLease(t *testing.T, a ArchiveStore) {
	g := put(t, a, settingsOf(t, guildA, ""))
	first := leased(t, a)
	if again := leased(t, a); again != first {
		t.Errorf("renewed: %+v -> %+v", first, again)
	}
	if _, err := a.AcquireLease(t.Context(), "other", time.Hour); !errors.Is(err, lease.ErrLost) {
		t.Errorf("a held lease was given to another holder: %v", err)
	}
	for _, wrong := range []lease.Lease{{Holder: "other", Fence: first.Fence}, {Holder: first.Holder, Fence: first.Fence + 1}, {}} {
		err := a.WriteBatch(t.Context(), wrong, snapshot.Batch{Guild: refOf(g), Rev: 9, Rows: []snapshot.Row{row("300000000000000001", 1)}})
		if !errors.Is(err, lease.ErrLost) {
			t.Errorf("a batch with the lease %+v: %v", wrong, err)
		}
		if err := a.ReleaseLease(t.Context(), wrong); err != nil {
			t.Errorf("release of a lease that is not held: %v", err)
		}
	}
	wantState(t, a, g, 0, 0)
	writeRows(t, a, first, g, 0, 1, row("300000000000000001", 1))
	if err := a.ReleaseLease(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	next, err := a.AcquireLease(t.Context(), "other", time.Hour)
	if err != nil || next.Fence <= first.Fence {
		t.Errorf("after the release: %+v, %v; want a fence above %d", next, err, first.Fence)
	}
	if err := a.WriteBatch(t.Context(), first, snapshot.Batch{Guild: refOf(g), Rev: 2}); !errors.Is(err, lease.ErrLost) {
		t.Errorf("the former holder's batch: %v", err)
	}
}

func archiveLeaseExpiry(t *testing.T, a ArchiveStore) {
	first, err := a.AcquireLease(t.Context(), "first", time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		second, err := a.AcquireLease(ctx, "second", time.Hour)
		if err == nil {
			if second.Fence <= first.Fence {
				t.Errorf("fence %d after %d", second.Fence, first.Fence)
			}
			break
		}
		if !errors.Is(err, lease.ErrLost) {
			t.Fatal(err)
		}
	}
	if _, err := a.AcquireLease(ctx, "first", time.Hour); !errors.Is(err, lease.ErrLost) {
		t.Errorf("the first holder came back: %v", err)
	}
}

// A clock that was an hour ahead and was set back leaves a lease that would keep everybody out for that hour.
func archiveLeaseTooFarAhead(t *testing.T, a ArchiveStore) {
	first, err := a.AcquireLease(t.Context(), "first", time.Hour+time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.AcquireLease(t.Context(), "second", time.Minute)
	if err != nil || second.Fence <= first.Fence {
		t.Fatalf("%+v, %v; want a fence above %d", second, err, first.Fence)
	}
	if _, err := a.AcquireLease(t.Context(), "third", time.Minute); !errors.Is(err, lease.ErrLost) {
		t.Errorf("a held lease was given to another holder: %v", err)
	}
}

func archiveMembers(t *testing.T, a ArchiveStore) {
	g := put(t, a, settingsOf(t, guildA, ""))
	avatar, empty, name, colour := "a_0123456789abcdef0123456789abcdef", "", "Ünï \"q\" \\ 😀\n\x01", "#ff00aa"
	want := []snapshot.Row{
		{
			Member: leaderboard.Member{
				UserID: "300000000000000002", XP: level.MaxXP, MessageCount: 1 << 40, LastUpdated: time.UnixMilli(1767225600123).UTC(),
				User: leaderboard.User{Avatar: &avatar, Discriminator: "0001", GlobalName: &name, Username: name, AccentColour: &colour},
			},
			CooldownUntil: time.UnixMilli(1767225660123).UTC(),
		},
		{Member: leaderboard.Member{UserID: "30000000000000001", XP: 0}}, // shorter, but after the first as text
		{Member: leaderboard.Member{UserID: "9999999999999999999", XP: 5, User: leaderboard.User{Avatar: &empty, GlobalName: &empty}}},
	}
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 3, want[2], want[0], want[1])
	if got := allMembers(t, a, g); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	wantState(t, a, g, 0, 3)
}

func archiveRevs(t *testing.T, a ArchiveStore) {
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
		t.Errorf("XP %v, want %v", got, want)
	}
	wantState(t, a, g, 0, 12)
	// A live store that knows of less than is archived has gone back in time, however new its rev looks.
	b := snapshot.Batch{Guild: refOf(g), Rev: 50, Known: 11, Rows: []snapshot.Row{row("300000000000000001", 50)}}
	if err := a.WriteBatch(t.Context(), l, b); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("a batch of a live store that went back: %v", err)
	}
	wantState(t, a, g, 0, 12)
	// A batch that came late, from a Redis that is no more.
	if _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Archived: 11}); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("raised from a state that a batch has changed since: %v", err)
	}
	wantState(t, a, g, 0, 12)
	if s, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Archived: 12}); err != nil || s != (snapshot.State{Epoch: 1, Archived: 12}) {
		t.Fatalf("raise epoch: %+v, %v", s, err)
	}
	writeRows(t, a, l, g, 1, 1, row("300000000000000001", 1))
	if got := allMembers(t, a, g)[0].XP; got != 1 {
		t.Errorf("a newer epoch did not replace an older one with a higher rev: XP %d", got)
	}
}

func archiveEpochs(t *testing.T, a ArchiveStore) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	if _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{}); err != nil {
		t.Fatal(err)
	}
	for _, epoch := range []int64{0, 2} {
		err := a.WriteBatch(t.Context(), l, snapshot.Batch{Guild: refOf(g), Epoch: epoch, Rev: 5, Rows: []snapshot.Row{row("300000000000000001", 1)}})
		if !errors.Is(err, snapshot.ErrStale) {
			t.Errorf("a batch of epoch %d at epoch 1: %v", epoch, err)
		}
		if _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Epoch: epoch}); !errors.Is(err, snapshot.ErrStale) {
			t.Errorf("raised from %d at epoch 1: %v", epoch, err)
		}
	}
	wantState(t, a, g, 1, 0)
	if rows := allMembers(t, a, g); len(rows) != 0 {
		t.Errorf("a refused batch left %+v", rows)
	}
}

func archiveIncarnations(t *testing.T, a ArchiveStore) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	if _, err := a.DeleteGuild(t.Context(), guildA); err != nil {
		t.Fatal(err)
	}
	again := put(t, a, settingsOf(t, guildA, ""))
	b := snapshot.Batch{Guild: refOf(g), Rev: 5, Rows: []snapshot.Row{row("300000000000000001", 1)}}
	if err := a.WriteBatch(t.Context(), l, b); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("a batch of the deleted incarnation: %v", err)
	}
	if _, err := a.State(t.Context(), refOf(g)); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("its state: %v", err)
	}
	if _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{}); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("its epoch: %v", err)
	}
	if _, err := a.Members(t.Context(), refOf(g), "", 10); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("its members: %v", err)
	}
	wantState(t, a, again, 0, 0)
}

func archiveEpochRace(t *testing.T, a ArchiveStore) {
	g := put(t, a, settingsOf(t, guildA, ""))
	var won atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			switch _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{}); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, snapshot.ErrStale):
				t.Errorf("raise epoch: %v", err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d of them raised the epoch", won.Load())
	}
	wantState(t, a, g, 1, 0)
}

func archiveTombstones(t *testing.T, a ArchiveStore) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 1, row("300000000000000001", 1), row("300000000000000002", 2))
	writeRows(t, a, l, g, 0, 5, tombstone("300000000000000001"), tombstone("300000000000000003"))
	writeRows(t, a, l, g, 0, 4, row("300000000000000001", 4))
	if rows := allMembers(t, a, g); len(rows) != 1 || rows[0].UserID != "300000000000000002" {
		t.Errorf("members beside the tombstones: %+v", rows)
	}
	if n, err := a.Purge(t.Context(), 100, time.Hour); err != nil || n != 0 {
		t.Errorf("fresh tombstones were purged: %d, %v", n, err)
	}
	writeRows(t, a, l, g, 0, 6, row("300000000000000001", 6))
	if rows := allMembers(t, a, g); len(rows) != 2 || rows[0].XP != 6 {
		t.Errorf("a member that came back: %+v", rows)
	}
	// Of the two tombstones, one became a member again.
	if n, err := a.Purge(t.Context(), 100, -time.Hour); err != nil || n != 1 {
		t.Errorf("purged %d, %v; want the one tombstone", n, err)
	}
	writeRows(t, a, l, g, 0, 8, tombstone("300000000000000002"))
	if _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Archived: 8}); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Purge(t.Context(), 100, -time.Hour); err != nil || n != 1 {
		t.Errorf("purged %d, %v; a salvage may still need the tombstone of the epoch before", n, err)
	}
}

func archivePieces(t *testing.T, a ArchiveStore) {
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
		rows, err := a.Members(t.Context(), refOf(g), after, 999)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.XP != level.XP(next) {
				t.Fatalf("member %d has XP %d", next, r.XP)
			}
			next++
			after = r.UserID
		}
		if len(rows) < 999 {
			break
		}
	}
	if next != total {
		t.Errorf("read %d members of %d", next, total)
	}
}

func archivePurge(t *testing.T, a ArchiveStore) {
	g := put(t, a, settingsOf(t, guildA, ""))
	kept := put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	var rows []snapshot.Row
	for i := range 25 {
		rows = append(rows, row(id.User(fmt.Sprintf("3%017d", i)), 1))
	}
	writeRows(t, a, l, g, 0, 1, rows...)
	writeRows(t, a, l, kept, 0, 1, rows[0])
	if _, err := a.DeleteGuild(t.Context(), guildA); err != nil {
		t.Fatal(err)
	}
	wantDeleted := func(want ...leaderboard.GuildRef) {
		t.Helper()
		if got, err := a.Deleted(t.Context(), 10); err != nil || !slices.Equal(got, want) {
			t.Errorf("deleted guilds %v, %v; want %v", got, err, want)
		}
	}
	wantDeleted(refOf(g))
	var pieces []int
	for range 5 {
		n, err := a.Purge(t.Context(), 10, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, n)
	}
	if want := []int{10, 10, 5, 0, 0}; !slices.Equal(pieces, want) {
		t.Errorf("purged %v, want %v", pieces, want)
	}
	wantDeleted()
	if len(allMembers(t, a, kept)) != 1 {
		t.Error("a guild that lives lost its member")
	}
}
