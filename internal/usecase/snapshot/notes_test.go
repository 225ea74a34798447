package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/snapshot"
)

// notes is a live store that only records notes of uses.
type notes struct {
	snapshot.Live
	mu    sync.Mutex
	calls int
	noted map[id.Guild][]time.Time
	err   error
}

func (n *notes) NoteUses(_ context.Context, guilds []id.Guild) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.calls++; n.err != nil {
		return n.err
	}
	if n.noted == nil {
		n.noted = map[id.Guild][]time.Time{}
	}
	for _, g := range guilds {
		n.noted[g] = append(n.noted[g], time.Now())
	}
	return nil
}

func (n *notes) of(g id.Guild) []time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.noted[g])
}

func (n *notes) roundTrips() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls
}

// runUses runs Notes of uses until stop is called.
func runUses(t *testing.T, n *notes, idle time.Duration) (uses *snapshot.Notes, stop func()) {
	uses = snapshot.NewUses(n, idle)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		uses.Run(ctx, slog.New(slog.DiscardHandler))
	}()
	return uses, func() { cancel(); <-done }
}

// A guild's first use is noted within a second. Then the last note is never older than the last use by more than an eighth of the idle
// time, however often the guild is used.
func TestUsesAreNotedSoonAndRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = 80 * time.Minute
		n := &notes{}
		uses, stop := runUses(t, n, idle)
		defer stop()
		began := time.Now()
		uses.Add("1")
		time.Sleep(2 * time.Second)
		if got := n.of("1"); len(got) != 1 || got[0].Sub(began) > time.Second {
			t.Errorf("the use was noted at %v, want once within a second of %v", got, began)
		}
		for range 3000 { // ten hours
			time.Sleep(12 * time.Second)
			uses.Add("1")
			if got := n.of("1"); time.Since(got[len(got)-1]) > idle/8+time.Second {
				t.Fatalf("after %v the last note is %v old", time.Since(began), time.Since(got[len(got)-1]))
			}
		}
		if got, most := len(n.of("1")), int(time.Since(began)/(idle/8))+1; got > most {
			t.Errorf("the use was noted %d times in %v, want at most %d", got, time.Since(began), most)
		}
		if calls := n.roundTrips(); calls > len(n.of("1")) {
			t.Errorf("%d round trips were made for %d notes", calls, len(n.of("1")))
		}
		time.Sleep(3 * idle)
		if got := n.of("1"); time.Since(got[len(got)-1]) < 3*idle-2*time.Second {
			t.Error("a guild was noted after its last use")
		}
	})
}

func TestUsesOfManyGuildsAreBounded(t *testing.T) {
	n := &notes{}
	uses := snapshot.NewUses(n, time.Hour)
	const guilds = 200_000
	use := func() {
		for i := range guilds {
			uses.Add(id.Guild(fmt.Sprintf("1%017d", i)))
		}
	}
	use()
	if err := uses.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept := len(n.noted)
	if kept < 100_000 || kept > 32*4096 {
		t.Errorf("%d guilds are noted at once, want 100000 to %d", kept, 32*4096)
	}
	use() // notes the guilds left out before
	if err := uses.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(n.noted) <= kept || n.calls > 2+(2*32*4096)/500 {
		t.Errorf("%d guilds are noted after the second use and %d after the first, in %d round trips", len(n.noted), kept, n.calls)
	}
}

// A note that fails is made the next time, and once.
func TestAFailedNoteIsMadeLater(t *testing.T) {
	for _, again := range []time.Duration{0, time.Hour} {
		n := &notes{err: errors.New("away")}
		uses := snapshot.NewNotes(n.NoteUses, again)
		uses.Add("1")
		if err := uses.Flush(t.Context()); !errors.Is(err, n.err) {
			t.Errorf("a flush while the store is down: %v, want its error", err)
		}
		n.err = nil
		uses.Add("1")
		for range 2 {
			if err := uses.Flush(t.Context()); err != nil || len(n.of("1")) != 1 {
				t.Errorf("after the next flush (%v) the notes are %v, want one", err, n.of("1"))
			}
		}
	}
}

// A change after the note is noted again, because the writer may have read the guild in between.
func TestAGuildThatChangesAgainIsNotedAgain(t *testing.T) {
	n := &notes{}
	changed := snapshot.NewNotes(n.NoteUses, 0)
	for round := range 3 {
		changed.Add("1")
		changed.Add("1")
		if err := changed.Flush(t.Context()); err != nil || len(n.of("1")) != round+1 {
			t.Errorf("in round %d the notes are %v (%v), want %d", round, n.of("1"), err, round+1)
		}
	}
}

// A process that stops makes its last notes.
func TestAStopMakesTheLastNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notes{}
		uses, stop := runUses(t, n, time.Hour)
		uses.Add("1")
		if stop(); len(n.of("1")) != 1 {
			t.Errorf("after the stop the notes are %v, want one", n.of("1"))
		}
	})
}
