package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/usecase/snapshot"
)

func history(t *testing.T, a store.Archive, owner id.User, before int64, limit int) []apikey.Record {
	t.Helper()
	found := mustGet(a.KeyHistory(t.Context(), owner, before, limit))(t)
	return found
}

// archiveHistory makes every kind of change, and some without an effect.
func archiveHistory(t *testing.T, a store.Archive) {
	put(t, a, settingsOf(t, guildA, ""))
	put(t, a, settingsOf(t, guildB, ""))
	started, now := time.Now().Add(-time.Minute), time.Now().Truncate(time.Millisecond)
	repeat := func(call func() error) {
		t.Helper()
		for range 2 {
			must(t, call())
		}
	}
	must(t, a.CreateKey(t.Context(), aKey(keyOne, guildB), byA(), 0))
	repeat(func() error { return a.RenameKey(t.Context(), keyOne, "new", byA()) })
	r := apikey.Rotation{Hash: [32]byte{1}, Now: now, Overlap: time.Hour}
	repeat(func() error { return a.RotateKey(t.Context(), keyOne, r, byA()) })
	r.Hash, r.Overlap = [32]byte{2}, 0
	repeat(func() error { return a.RotateKey(t.Context(), keyOne, r, byA()) })
	repeat(func() error { return a.Grant(t.Context(), keyOne, guildA, apikey.Operator) })
	repeat(func() error { return a.Ungrant(t.Context(), keyOne, guildA, apikey.Operator) })
	repeat(func() error { return a.Grant(t.Context(), keyOne, guildA, byA()) })
	repeat(func() error { _, err := a.KeepGrants(t.Context(), ownerA, []id.Guild{guildA}); return err })
	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	must(t, a.RevokeKey(t.Context(), keyOne, apikey.Operator))
	user := string(ownerA)
	want := []string{
		"deleted by operator new [] ", "revoked by operator new [" + string(guildA) + "] ", "revoked by service new [" + string(guildB) + "] ",
		"granted by " + user + " new [" + string(guildA) + "] ", "revoked by operator new [" + string(guildA) + "] ",
		"granted by operator new [" + string(guildA) + "] ", "rotated by " + user + " new [] ",
		"rotated by " + user + " new [] until " + now.Add(time.Hour).UTC().String(),
		"renamed by " + user + " new [] bot ü", "created by " + user + " bot ü [" + string(guildB) + "] ",
	}
	var got []string
	for _, r := range history(t, a, ownerA, 0, 100) {
		detail := r.FormerName
		if r.OldUntil != nil {
			detail = "until " + r.OldUntil.String()
		}
		got = append(got, fmt.Sprintf("%s by %s %s %v %s", r.Action, r.By, r.KeyName, r.GuildIDs, detail))
		if r.KeyID != keyOne || r.At.Before(started) || r.At.After(time.Now().Add(time.Minute)) {
			t.Errorf("a record is of key %s at %v, want %s during the test", r.KeyID, r.At, keyOne)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the history is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	newest := history(t, a, ownerA, 0, 2)
	if len(newest) != 2 || newest[0].Number <= newest[1].Number {
		t.Fatalf("the newest two are %+v, want falling numbers", newest)
	}
	if next := history(t, a, ownerA, newest[1].Number, 1); len(next) != 1 || next[0].By != apikey.Service {
		t.Errorf("the record after them is %+v, want the service's", next)
	}
	if others := history(t, a, ownerB, 0, 100); len(others) != 0 {
		t.Errorf("another owner's history is %+v, want none", others)
	}
}

func archiveHistoryBound(t *testing.T, a store.Archive) {
	withKeys(t, a, keyOne)
	other := aKey(keyTwo)
	other.OwnerID = ownerB
	must(t, a.CreateKey(t.Context(), other, apikey.User(ownerB), 0))
	for i := range apikey.HistorySize + 4 {
		must(t, a.RenameKey(t.Context(), keyOne, fmt.Sprint(i), byA()))
	}
	kept := history(t, a, ownerA, 0, apikey.HistorySize+10)
	if len(kept) != apikey.HistorySize || kept[0].KeyName != fmt.Sprint(apikey.HistorySize+3) || kept[len(kept)-1].KeyName != "4" {
		t.Errorf("%d records are kept, of the names %s to %s, want the newest %d", len(kept), kept[0].KeyName, kept[len(kept)-1].KeyName, apikey.HistorySize)
	}
	if others := history(t, a, ownerB, 0, 10); len(others) != 1 {
		t.Errorf("another owner has %d records, want 1", len(others))
	}
}

// ArchiveKeysPurge checks that a purge removes old use, history and former secrets of keys, and nothing else. backdate moves all times of
// the history back.
func ArchiveKeysPurge(t *testing.T, a store.Archive, backdate func(by time.Duration)) {
	now := time.Now().Truncate(time.Millisecond)
	withKeys(t, a, keyOne)
	hour := apikey.HourOf(now)
	for _, h := range []int64{hour, hour - apikey.HoursOfDay + 1, hour - apikey.HoursOfDay - 2} {
		must(t, a.AddUse(t.Context(), h, []apikey.KeyUse{{KeyID: keyOne, Requests: 1, LastUsed: now}}))
	}
	rotate(t, a, now.Add(-2*time.Hour), time.Hour) // expired by now
	purge := func(want int) {
		t.Helper()
		if n, err := a.Purge(t.Context(), 100, snapshot.Keep{Tombstones: time.Hour}); err != nil || n != want {
			t.Errorf("purged %d rows (%v), want %d", n, err, want)
		}
	}
	purge(2)
	if list := owned(t, a, ownerA, hour); list[0].Requests != 2 || len(list[0].Old) != 0 || list[0].LastUsed == nil {
		t.Errorf("after the purge the key is %+v, want 2 requests and no old secret", list[0])
	}
	backdate(apikey.HistoryTime - time.Hour)
	purge(0)
	backdate(2 * time.Hour)
	must(t, a.RenameKey(t.Context(), keyOne, "new", byA()))
	if left := history(t, a, ownerA, 0, 10); len(left) != 1 || left[0].Action != apikey.Renamed {
		t.Errorf("after the purge the history is %+v, want the rename", left)
	}
	backdate(apikey.HistoryTime + time.Hour)
	purge(1)
	if left := history(t, a, ownerA, 0, 10); len(left) != 0 {
		t.Errorf("after the second purge the history is %+v, want none", left)
	}
}
