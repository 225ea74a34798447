package snapshot_test

import (
	"slices"
	"testing"

	"levelboard/internal/domain/level"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
)

// audited sets a member's XP, with an audit record.
func audited(w *stores.World, g leaderboard.GuildRef, xp level.XP) {
	w.Helper()
	by := audit.By{Actor: audit.TheOperator, RequestID: "r"}
	w.Change(g, 1, leaderboard.Change{Op: leaderboard.Set, Amount: xp, Audit: &audit.Entry{By: by, Action: audit.Set, UserID: stores.User(1)}})
}

// wantAudit compares the XP in the guild's audit log, newest first.
func wantAudit(w *stores.World, g leaderboard.GuildRef, when string, want ...string) {
	w.Helper()
	page, err := audit.NewLog(w.Archive, w.Live).Read(w.Context(), g.ID, audit.Query{Limit: audit.MaxLimit})
	w.Must(err)
	var got []string
	for _, r := range page.Records {
		got = append(got, string(r.After))
	}
	if !slices.Equal(got, want) {
		w.Errorf("%s: the audit log has %q, want %q", when, got, want)
	}
}

func TestAnAuditRecordIsArchivedOnce(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		g := w.Guild("100000000000000001")
		w.Create(g, 1, 1)
		audited(w, g, 2)
		wantAudit(w, g, "before a snapshot", "2")
		for i, f := range []*stores.Faults{{Before: stores.At("WriteBatches", 1)}, {After: stores.At("WriteBatches", 1)}, {Before: stores.At("EndChanges", 1)}, {After: stores.At("EndChanges", 1)}} {
			writer := w.Writer("writer", stores.Never, f)
			if writer.Flush(w.Context()) == nil {
				t.Errorf("the flush with fault %d succeeded, want it to fail", i)
			}
			wantAudit(w, g, "after a writer that failed", "2")
			w.Killed("writer")
		}
		audited(w, g, 3)
		wantAudit(w, g, "some of them archived", "3", "2")
		w.Must(w.Writer("writer", stores.Never, &stores.Faults{}).Flush(w.Context()))
		wantAudit(w, g, "after a snapshot", "3", "2")
		if !w.NothingWaits(g) {
			t.Error("something still waits for a snapshot")
		}
	})
}

// Redis loses as much of the log as of the members, except what the archive has.
func TestAStaleRedisAndItsAuditLogAgree(t *testing.T) {
	w := stores.Restorable(t)
	g := w.Guild("100000000000000001")
	w.Create(g, 1, 1)
	audited(w, g, 2)
	old := w.Keep()
	audited(w, g, 3)
	writer := w.Writer("writer", stores.Never, &stores.Faults{})
	w.Must(writer.Flush(w.Context()))
	w.GoBack(old)
	wantAudit(w, g, "before the guild is compared", "3", "2")
	w.WantXPs(g, -1, 3)
	wantAudit(w, g, "of an older Redis", "3", "2")
	audited(w, g, 4)
	w.Must(writer.Flush(w.Context()))
	wantAudit(w, g, "after a snapshot", "4", "3", "2")

	old = w.Keep()
	audited(w, g, 5)
	wantAudit(w, g, "not archived", "5", "4", "3", "2")
	w.GoBack(old)
	w.WantXPs(g, -1, 4)
	wantAudit(w, g, "lost with its change", "4", "3", "2")
	audited(w, g, 6)
	w.Must(writer.Flush(w.Context()))
	wantAudit(w, g, "after the next snapshot", "6", "4", "3", "2")
}
