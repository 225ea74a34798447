package snapshot_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// A guild with many changes has one page in the group, and the rest is written alone. Transactions are bounded for guilds of any size.
func TestTransactionsAreBounded(t *testing.T) {
	w := stores.Servers(t)
	var guilds []leaderboard.GuildRef
	for i := range 40 {
		g := w.Guild(id.Guild(fmt.Sprintf("1%017d", i)))
		guilds = append(guilds, g)
		size := 60
		if i == 17 {
			size = 2200
		}
		w.CreateMany(g, 0, size, 1)
	}
	var largest, rows, alone int
	f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
		if c.Method == "WriteBatches" {
			largest, rows = max(largest, c.Rows), rows+c.Rows
			if len(c.Guilds) == 1 {
				alone++
			}
		}
		return nil
	}}
	w.Must(w.Writer("writer", stores.Never, f).Flush(w.Context()))
	if n := f.Count("WriteBatches"); n > 7 || alone > 4 || largest > 1000 || rows != 39*60+2200 {
		t.Errorf("%d transactions, %d of one guild, with at most %d rows and %d in all, want 7, 4, 1000 and %d", n, alone, largest, rows, 39*60+2200)
	}
	allInStep(w, guilds)
}

// More guilds than fit a group change again and again while the writer runs.
func TestManyChangingGuildsAreWritten(t *testing.T) {
	w := stores.Servers(t)
	guilds := smallGuilds(w, 250)
	stop := w.Running(w.Writer("writer", 100*time.Millisecond, &stores.Faults{}))
	for i := range 3 {
		addAll(w, guilds, i)
	}
	w.Eventually("all is archived", func() bool {
		b, err := w.Live.Backlog(w.Context(), nil)
		w.Must(err)
		return b.Members == 0 && w.State(guilds[0]).Archived == 6
	})
	stop()
	w.Must(w.Writer("writer", stores.Never, &stores.Faults{}).Flush(w.Context()))
	allInStep(w, guilds)
}

// A large guild that changes during each write is written as of the start of its round. It does not delay other guilds, and a member that
// changes all the time does not wait longer than the others.
func TestAGuildThatChangesAllTheTimeIsWritten(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		const size = 1500
		guilds := smallGuilds(w, 2)
		w.CreateMany(guilds[0], 3, size-3, 100)
		w.Must(w.Writer("ready", stores.Never, &stores.Faults{}).Flush(w.Context()))
		w.Killed("ready")
		w.AddToAll(guilds[0], size)
		w.Add(guilds[1], 1)
		f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
			if c.Method == "ReadChanges" || c.Method == "WriteBatches" || c.Method == "EndChanges" {
				for _, n := range []int{0, size / 2, size - 1} {
					w.Add(guilds[0], n)
				}
			}
			return nil
		}}
		w.Must(w.Writer("writer", stores.Never, f).Flush(w.Context()))
		if n := f.Count("WriteBatches"); n > 5 {
			w.Errorf("%d transactions were made, want at most 5", n)
		}
		for i, row := range w.ArchivedRows(guilds[0]) {
			if row.XP < 101 {
				w.Fatalf("member %d is archived with %d XP, want at least the 101 of the round's start", i, row.XP)
			}
		}
		w.InStep(guilds[1])
		w.Killed("writer")
		nobodyWaitsUnseen(w, guilds)
		w.Must(w.Writer("next", stores.Never, &stores.Faults{}).Flush(w.Context()))
		allInStep(w, guilds)
	})
}

// The last page that covers all changes from the start is marked so, unless such a member may be noted again with a later rev.
func TestBeforeIsSetAfterTheLastPage(t *testing.T) {
	at := time.UnixMilli(1700000000000)
	page := func(rev, asOf int64, doubtful bool) snapshot.Page {
		return snapshot.Page{Batch: snapshot.Batch{Rev: rev, AsOf: asOf, Doubtful: doubtful}, At: at.Add(time.Duration(rev))}
	}
	first := page(5, 10, false)
	for _, c := range []struct {
		next snapshot.Page
		want time.Time
	}{
		{page(9, 12, false), time.Time{}}, {page(10, 12, false), first.At}, {page(10, 12, true), time.Time{}}, {page(12, 12, false), first.At},
	} {
		if got := snapshot.BeforeOf(first, c.next); !got.Equal(c.want) {
			t.Errorf("after the page %+v nothing waits from before %v, want %v", c.next.Batch, got, c.want)
		}
	}
}
