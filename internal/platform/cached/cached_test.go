package cached_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"levelboard/internal/platform/cached"
	"levelboard/internal/platform/pause"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errDown   = errors.New("the archive is down")
	errAbsent = errors.New("there is no such thing")
)

func absent(err error) bool { return errors.Is(err, errAbsent) }

// Under synctest a wait that cannot end, such as one for a load that does not begin, fails the test at once.

// archive answers a load when the test does, so that every order of events can be tested.
type archive struct {
	loads chan load
}

type load struct {
	ctx    context.Context
	key    string
	answer chan<- answer
}

type answer struct {
	value int
	err   error
}

func newArchive() *archive { return &archive{loads: make(chan load)} }

func (a *archive) load(ctx context.Context, k string) (int, error) {
	answers := make(chan answer, 1)
	a.loads <- load{ctx: ctx, key: k, answer: answers}
	got := <-answers
	return got.value, got.err
}

// get calls Get on its own goroutine.
func get(ctx context.Context, c *cached.Cache[string, int], k string) <-chan answer {
	got := make(chan answer, 1)
	go func() {
		v, err := c.Get(ctx, k)
		got <- answer{v, err}
	}()
	return got
}

func expect(t *testing.T, what string, got, want answer) {
	t.Helper()
	if got.value != want.value || !errors.Is(got.err, want.err) {
		t.Fatalf("%s: Get returned (%d, %v), want (%d, %v)", what, got.value, got.err, want.value, want.err)
	}
}

func TestAValueIsLoadedOnceAndThenServedFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options{Size: 8})
		first := get(t.Context(), c, "k")
		l := <-a.loads
		if l.key != "k" {
			t.Fatalf("the key %q was loaded, want k", l.key)
		}
		l.answer <- answer{value: 7}
		expect(t, "the first caller", <-first, answer{value: 7})
		v, err := c.Get(t.Context(), "k")
		expect(t, "the second caller", answer{v, err}, answer{value: 7})

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		v, err = c.Get(ended, "k")
		expect(t, "a caller whose context has ended, from memory", answer{v, err}, answer{value: 7})
	})
}

func TestConcurrentCallersShareOneLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options{Size: 8})
		var waiting []<-chan answer
		for range 50 {
			waiting = append(waiting, get(t.Context(), c, "k"))
		}
		l := <-a.loads
		synctest.Wait() // all callers wait now; a second load would be visible
		select {
		case <-a.loads:
			t.Fatal("a second load began for the same key")
		default:
		}
		l.answer <- answer{value: 7}
		for _, w := range waiting {
			expect(t, "a caller", <-w, answer{value: 7})
		}
	})
}

func TestACallerWhoLeavesDoesNotFailOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options{Size: 8})
		leaving, leave := context.WithCancel(t.Context())
		left := get(leaving, c, "k") // starts the load
		l := <-a.loads
		stayed := get(t.Context(), c, "k")
		synctest.Wait()
		leave()
		expect(t, "who left", <-left, answer{err: context.Canceled})
		if l.ctx.Err() != nil {
			t.Fatalf("the load's context ended with its first caller's: %v", l.ctx.Err())
		}
		l.answer <- answer{value: 7}
		expect(t, "who stayed", <-stayed, answer{value: 7})
	})
}

func TestALoadTimesOutAndHasTheCallersContextValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type name struct{}
		c := cached.New(func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return ctx.Value(name{}).(string), ctx.Err()
		}, cached.Options{Size: 8})
		ctx := context.WithValue(t.Context(), name{}, "request 1")
		for patience, want := range map[time.Duration]time.Duration{0: 2 * time.Second, time.Second: 2 * time.Second, 5 * time.Second: 5 * time.Second} {
			began := time.Now()
			_, err := c.Get(pause.WithPatience(ctx, patience), "k")
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != want {
				t.Fatalf("with a patience of %v the load ended after %v with %v, want the deadline after %v", patience, time.Since(began), err, want)
			}
		}
	})
}

func TestErrorsAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options{Size: 8, Absent: absent})
		first := get(t.Context(), c, "k")
		(<-a.loads).answer <- answer{err: errDown}
		expect(t, "while the archive is down", <-first, answer{err: errDown})
		second := get(t.Context(), c, "k")
		(<-a.loads).answer <- answer{value: 7}
		expect(t, "when it is back", <-second, answer{value: 7})
	})
}

func TestAbsenceIsKeptUntilForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options{Size: 8, Absent: absent})
		first := get(t.Context(), c, "k")
		(<-a.loads).answer <- answer{err: errAbsent}
		expect(t, "the first caller", <-first, answer{err: errAbsent})
		_, err := c.Get(t.Context(), "k")
		expect(t, "the second caller, from memory", answer{err: err}, answer{err: errAbsent})

		c.Forget("k")
		third := get(t.Context(), c, "k")
		(<-a.loads).answer <- answer{value: 7}
		expect(t, "after it was created", <-third, answer{value: 7})
	})
}

func TestAPanickingLoadFailsItsCallersOnly(t *testing.T) {
	fail := func() { panic("boom") }
	c := cached.New(func(context.Context, string) (int, error) { fail(); return 7, nil }, cached.Options{Size: 8})
	if _, err := c.Get(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Fatalf("a load that panicked: %v, want an error with boom", err)
	}
	fail = func() {}
	v, err := c.Get(t.Context(), "k")
	expect(t, "the next load", answer{v, err}, answer{value: 7})
}
