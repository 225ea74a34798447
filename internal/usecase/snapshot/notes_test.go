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

// notes is a live store that only takes notes of uses.
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

// A guild is noted within a second of its first use. After that its last note is never older than its last use by more than an eighth of
// the idle time, however often it is used.
func TestUsesAreNotedSoonAndSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = 80 * time.Minute
		n := &notes{}
		uses, stop := runUses(t, n, idle)
		defer stop()
		began := time.Now()
		uses.Add("1")
		time.Sleep(2 * time.Second)
		if got := n.of("1"); len(got) != 1 || got[0].Sub(began) > time.Second {
			t.Errorf("noted at %v, want once within a second of %v", got, began)
		}
		for range 3000 { // ten hours
			time.Sleep(12 * time.Second)
			uses.Add("1")
			if got := n.of("1"); time.Since(got[len(got)-1]) > idle/8+time.Second {
				t.Fatalf("after %v the last note is %v old", time.Since(began), time.Since(got[len(got)-1]))
			}
		}
		if got, most := len(n.of("1")), int(time.Since(began)/(idle/8))+1; got > most {
			t.Errorf("noted %d times in %v, want at most %d", got, time.Since(began), most)
		}
		if calls := n.roundTrips(); calls > len(n.of("1")) {
			t.Errorf("%d round trips for %d notes", calls, len(n.of("1")))
		}
		time.Sleep(3 * idle)
		if got := n.of("1"); time.Since(got[len(got)-1]) < 3*idle-2*time.Second {
			t.Error("a guild is noted that nobody uses any more")
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
		t.Errorf("%d guilds are noted at once, want no more than are remembered", kept)
	}
	use() // what was left out is noted with a later use
	if err := uses.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(n.noted) <= kept || n.calls > 2+(2*32*4096)/500 {
		t.Errorf("%d guilds are noted at the second time, after %d at the first, in %d round trips", len(n.noted), kept, n.calls)
	}
}

// A note that fails is made the next time, and once.
func TestUsesWhileTheLiveStoreIsAway(t *testing.T) {
	for _, again := range []time.Duration{0, time.Hour} {
		n := &notes{err: errors.New("away")}
		uses := snapshot.NewNotes(n.NoteUses, again)
		uses.Add("1")
		if err := uses.Flush(t.Context()); !errors.Is(err, n.err) {
			t.Errorf("error %v", err)
		}
		n.err = nil
		uses.Add("1")
		for range 2 {
			if err := uses.Flush(t.Context()); err != nil || len(n.of("1")) != 1 {
				t.Errorf("noted %v, %v", n.of("1"), err)
			}
		}
	}
}

// A change after the note is noted again, since the writer may have read the guild in between.
func TestAGuildThatChangesAgainIsNotedAgain(t *testing.T) {
	n := &notes{}
	changed := snapshot.NewNotes(n.NoteUses, 0)
	for round := range 3 {
		changed.Add("1")
		changed.Add("1")
		if err := changed.Flush(t.Context()); err != nil || len(n.of("1")) != round+1 {
			t.Errorf("noted %v, %v in round %d", n.of("1"), err, round)
		}
	}
}

// A process that stops notes what it has not noted yet.
func TestTheLastNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notes{}
		uses, stop := runUses(t, n, time.Hour)
		uses.Add("1")
		if stop(); len(n.of("1")) != 1 {
			t.Errorf("noted %v", n.of("1"))
		}
	})
}
