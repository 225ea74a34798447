package snapshot_test

import (
	"slices"
	"testing"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
)

// audited sets a member's XP, and has it recorded.
func (w *world) audited(g leaderboard.GuildRef, xp level.XP) {
	w.Helper()
	by := audit.By{Actor: audit.TheOperator, RequestID: "r"}
	w.change(g, 1, leaderboard.Change{Op: leaderboard.Set, Amount: xp, Audit: &audit.Entry{By: by, Action: audit.Set, UserID: user(1)}})
}

// wantAudit compares the XP that changes set by the guild's audit log, newest first.
func (w *world) wantAudit(g leaderboard.GuildRef, when string, want ...string) {
	w.Helper()
	page, err := audit.NewLog(w.archive, w.live).Read(w.Context(), g.ID, audit.Query{Limit: audit.MaxLimit})
	w.must(err)
	var got []string
	for _, r := range page.Records {
		got = append(got, string(r.After))
	}
	if !slices.Equal(got, want) {
		w.Errorf("%s: the log has %q, want %q", when, got, want)
	}
}

func TestAnAuditRecordIsArchivedOnce(t *testing.T) {
	onBothStores(t, func(w *world) {
		g := w.guild("100000000000000001")
		w.create(g, 1, 1)
		w.audited(g, 2)
		w.wantAudit(g, "before a snapshot", "2")
		for i, f := range []*faults{{before: at("WriteBatches", 1)}, {after: at("WriteBatches", 1)}, {before: at("EndChanges", 1)}, {after: at("EndChanges", 1)}} {
			writer := w.writer("writer", never, f)
			if writer.Flush(w.Context()) == nil {
				t.Errorf("fault %d did not happen", i)
			}
			w.wantAudit(g, "after a writer that failed", "2")
			w.killed("writer")
		}
		w.audited(g, 3)
		w.wantAudit(g, "some of them archived", "3", "2")
		w.must(w.writer("writer", never, &faults{}).Flush(w.Context()))
		w.wantAudit(g, "after a snapshot", "3", "2")
		if !w.nothingWaits(g) {
			t.Error("something waits")
		}
	})
}

// Redis loses as much of the log as of the members, unless the archive has it.
func TestTheAuditLogOfARedisThatWentBack(t *testing.T) {
	w := onRestorableRedis(t)
	g := w.guild("100000000000000001")
	w.create(g, 1, 1)
	w.audited(g, 2)
	old := w.keep()
	w.audited(g, 3)
	writer := w.writer("writer", never, &faults{})
	w.must(writer.Flush(w.Context()))
	w.goBack(old)
	w.wantAudit(g, "before the guild is compared", "3", "2")
	w.wantXPs(g, -1, 3)
	w.wantAudit(g, "of an older Redis", "3", "2")
	w.audited(g, 4)
	w.must(writer.Flush(w.Context()))
	w.wantAudit(g, "after a snapshot", "4", "3", "2")

	old = w.keep()
	w.audited(g, 5)
	w.wantAudit(g, "not archived", "5", "4", "3", "2")
	w.goBack(old)
	w.wantXPs(g, -1, 4)
	w.wantAudit(g, "lost with its change", "4", "3", "2")
	w.audited(g, 6)
	w.must(writer.Flush(w.Context()))
	w.wantAudit(g, "after the next snapshot", "6", "4", "3", "2")
}
