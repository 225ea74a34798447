package snapshot_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/snapshot"
)

// keepArchive records what a purge must keep.
type keepArchive struct {
	snapshot.Archive
	keep snapshot.Keep
}

func (a *keepArchive) Purge(_ context.Context, _ int, keep snapshot.Keep) (int, error) {
	a.keep = keep
	return 0, nil
}

func TestAPurgeKeepsTheConfiguredHistory(t *testing.T) {
	w := stores.Embedded(t)
	for days, want := range map[int][2]int{0: {0, 0}, 30: {30, 60}} {
		a := &keepArchive{Archive: w.Archive}
		snapshot.NewWriter(w.Live, a, nil, snapshot.WriterOptions{
			Holder: "writer", Interval: stores.Never, HistoryDays: days, AuditDays: 2 * days, OnceTTL: 2 * time.Hour, Log: slog.New(slog.DiscardHandler),
		}).Purge(t.Context())
		if a.keep != (snapshot.Keep{Tombstones: 24 * time.Hour, Requests: 3 * time.Hour, History: want[0], Audit: want[1]}) {
			t.Errorf("with %d days configured a purge keeps %+v, want %d and %d days", days, a.keep, want[0], want[1])
		}
	}
}
