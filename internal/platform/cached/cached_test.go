package cached_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
	"weak"

	"go.uber.org/goleak"

	"levelboard/internal/platform/cached"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errDown   = errors.New("the archive is down")
	errAbsent = errors.New("there is no such thing")
)

func absent(err error) bool { return errors.Is(err, errAbsent) }

// In a synctest bubble a wait that cannot end, such as one for a load that does not begin, fails the test at once.

// archive answers a load only when the test does, so that every order of events can be made.
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

// get calls Get on a goroutine of its own.
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
		t.Fatalf("%s: got (%d, %v), want (%d, %v)", what, got.value, got.err, want.value, want.err)
	}
}

func TestAValueIsLoadedOnceAndThenServedFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options[int]{Size: 8})
		first := get(t.Context(), c, "k")
		l := <-a.loads
		if l.key != "k" {
			t.Fatalf("loaded %q", l.key)
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
		c := cached.New(a.load, cached.Options[int]{Size: 8})
		var waiting []<-chan answer
		for range 50 {
			waiting = append(waiting, get(t.Context(), c, "k"))
		}
		l := <-a.loads
		synctest.Wait() // all callers wait now, and a second load would have been offered
		select {
		case <-a.loads:
			t.Fatal("a second load began")
		default:
		}
		l.answer <- answer{value: 7}
		for _, w := range waiting {
			expect(t, "a caller", <-w, answer{value: 7})
		}
	})
}

func TestACallerWhoLeavesDoesNotFailTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options[int]{Size: 8})
		leaving, leave := context.WithCancel(t.Context())
		left := get(leaving, c, "k") // its call starts the load
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

func TestALoadEndsInTimeAndCarriesTheCallersValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type name struct{}
		c := cached.New(func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return ctx.Value(name{}).(string), ctx.Err()
		}, cached.Options[string]{Size: 8})
		began := time.Now()
		_, err := c.Get(context.WithValue(t.Context(), name{}, "request 1"), "k")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 2*time.Second {
			t.Fatalf("ended after %v with %v", time.Since(began), err)
		}
	})
}

func TestErrorsAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options[int]{Size: 8, Absent: absent})
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
		c := cached.New(a.load, cached.Options[int]{Size: 8, Absent: absent})
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

// Guilds and keys are asked for in parts of a request's first line or of its headers, which may be 32 KB; 10,000 absences that kept those
// would take 320 MB, for nothing but asking.
func TestKeysDoNotKeepWhatTheyArePartOf(t *testing.T) {
	var loaded []string
	c := cached.New(func(_ context.Context, k string) (string, error) {
		loaded = append(loaded, k)
		if k == "none" {
			return "", errAbsent
		}
		return "value", nil
	}, cached.Options[string]{Size: 8, Absent: absent})
	ask := func() weak.Pointer[byte] {
		line := strings.Repeat("/some/none", 3000)
		_, _ = c.Get(t.Context(), line[1:5])
		_, _ = c.Get(t.Context(), line[6:10])
		return weak.Make(unsafe.StringData(line))
	}
	line := ask()
	if runtime.GC(); line.Value() != nil {
		t.Error("the line is still in memory")
	}
	if c.Len() != 2 || !slices.Equal(loaded, []string{"some", "none"}) {
		t.Errorf("%d are held of %q", c.Len(), loaded)
	}
}

func TestTheCacheIsBoundedAndAbsencesPushNoValueOut(t *testing.T) {
	loads := map[int]int{}
	c := cached.New(func(_ context.Context, key string) (int, error) {
		k, err := strconv.Atoi(key)
		loads[k]++
		if k < 0 {
			return 0, errAbsent
		}
		return k, err
	}, cached.Options[int]{Size: 3, Absent: absent})
	ask := func(k int) {
		if _, err := c.Get(t.Context(), strconv.Itoa(k)); (err != nil) != (k < 0) {
			t.Fatalf("key %d: %v", k, err)
		}
	}
	for k := 1; k <= 3; k++ {
		ask(k)
	}
	for k := -1; k > -100; k-- {
		ask(k)
	}
	if c.Len() != 6 {
		t.Fatalf("holds %d entries, want 3 values and 3 absences", c.Len())
	}
	ask(1)
	ask(4) // pushes out 2, which was not used for longest
	ask(1)
	ask(2)
	if loads[1] != 1 || loads[2] != 2 {
		t.Fatalf("1 was loaded %d times, want 1; 2 %d times, want 2", loads[1], loads[2])
	}
}

func TestALoadThatWasUnderWayWhenItsKeyWasForgottenIsNotKept(t *testing.T) {
	forget := map[string]func(*cached.Cache[string, int]){
		"Forget":    func(c *cached.Cache[string, int]) { c.Forget("k") },
		"ForgetAll": func(c *cached.Cache[string, int]) { c.ForgetAll() },
	}
	for name, forget := range forget {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newArchive()
				c := cached.New(a.load, cached.Options[int]{Size: 8})
				before := get(t.Context(), c, "k")
				old := <-a.loads
				forget(c)
				old.answer <- answer{value: 1}
				expect(t, "who asked before", <-before, answer{value: 1})

				after := get(t.Context(), c, "k")
				(<-a.loads).answer <- answer{value: 2}
				expect(t, "who asked after", <-after, answer{value: 2})
			})
		})
	}
}

func TestAGetAfterForgetDoesNotJoinTheOldLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, oldFirst := range []bool{true, false} {
			a := newArchive()
			c := cached.New(a.load, cached.Options[int]{Size: 8})
			before := get(t.Context(), c, "k")
			old := <-a.loads
			c.Forget("k")
			after := get(t.Context(), c, "k")
			fresh := <-a.loads // a second load, while the first is under way
			finishOld := func() {
				old.answer <- answer{value: 1}
				expect(t, "who asked before", <-before, answer{value: 1})
			}
			finishFresh := func() {
				fresh.answer <- answer{value: 2}
				expect(t, "who asked after", <-after, answer{value: 2})
			}
			if oldFirst {
				finishOld()
				finishFresh()
			} else {
				finishFresh()
				finishOld()
			}
			v, err := c.Get(t.Context(), "k")
			expect(t, "what is kept", answer{v, err}, answer{value: 2})
		}
	})
}

func TestWhatIsInUseIsRenewedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options[int]{Size: 8})
		c.Renew("k")
		synctest.Wait()
		select {
		case <-a.loads:
			t.Fatal("a key that nobody asked for was loaded")
		default:
		}
		before := get(t.Context(), c, "k")
		old := <-a.loads
		c.Renew("k") // a load is under way
		fresh := <-a.loads
		fresh.answer <- answer{value: 2}
		old.answer <- answer{value: 1}
		expect(t, "who asked before", <-before, answer{value: 1})
		synctest.Wait()
		v, err := c.Get(t.Context(), "k")
		expect(t, "what is kept", answer{v, err}, answer{value: 2})

		c.Renew("k") // there is a value
		(<-a.loads).answer <- answer{value: 3}
		synctest.Wait()
		v, err = c.Get(t.Context(), "k")
		expect(t, "the value after a change, from memory", answer{v, err}, answer{value: 3})
	})
}

func TestForgetSparesOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options[int]{Size: 8})
		other := get(t.Context(), c, "other")
		l := <-a.loads
		c.Forget("k")
		l.answer <- answer{value: 7}
		expect(t, "the load of another key", <-other, answer{value: 7})
		v, err := c.Get(t.Context(), "other")
		expect(t, "the other key, from memory", answer{v, err}, answer{value: 7})
	})
}

func TestALoadThatPanicsOrAbortsIsAnErrorForItsCallersOnly(t *testing.T) {
	fail := func() { panic("boom") }
	c := cached.New(func(context.Context, string) (int, error) { fail(); return 7, nil }, cached.Options[int]{Size: 8})
	if _, err := c.Get(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Fatalf("a load that panicked: %v", err)
	}
	fail = runtime.Goexit
	if _, err := c.Get(t.Context(), "k"); err == nil {
		t.Fatal("a load without a result gave one")
	}
	fail = func() {}
	v, err := c.Get(t.Context(), "k")
	expect(t, "the next load", answer{v, err}, answer{value: 7})
}

// The archive's value only grows; each growth is followed by Forget, as a commit is by the change log. So after Forget
// nobody may see an older value.
func TestNobodySeesAnOldValueAfterForget(t *testing.T) {
	var mu sync.Mutex
	stored := 0
	c := cached.New(func(context.Context, string) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return stored, nil
	}, cached.Options[int]{Size: 2})
	forgotten := 0
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				atLeast := forgotten
				mu.Unlock()
				if v, err := c.Get(context.Background(), "k"); err != nil || v < atLeast {
					t.Errorf("saw %d (%v) after %d was made known", v, err, atLeast)
					return
				}
			}
		})
	}
	for n := 1; n <= 2000; n++ {
		mu.Lock()
		stored = n
		mu.Unlock()
		c.Forget("k")
		mu.Lock()
		forgotten = n
		mu.Unlock()
	}
	close(stop)
	readers.Wait()
}

// A flood of keys that are not in memory, while the store is slow, is refused at once; what is in memory is served.
func TestTooManyWhoWaitAreRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options[int]{Size: 8})
		c.Bound(2)
		held := get(t.Context(), c, "held")
		(<-a.loads).answer <- answer{value: 1}
		expect(t, "what is loaded before", <-held, answer{value: 1})

		// One who waits for each of two loads, or two for one load: it makes no difference.
		first := get(t.Context(), c, "slow")
		l := <-a.loads
		leaves, leave := context.WithCancel(t.Context())
		second := get(leaves, c, "slow")
		synctest.Wait()
		for _, k := range []string{"slow", "other"} {
			_, err := c.Get(t.Context(), k)
			expect(t, "one more, for "+k, answer{err: err}, answer{err: cached.ErrCrowded})
		}
		v, err := c.Get(t.Context(), "held")
		expect(t, "what is in memory", answer{v, err}, answer{value: 1})

		leave()
		expect(t, "who leaves", <-second, answer{err: context.Canceled})
		third := get(t.Context(), c, "other")
		other := <-a.loads
		l.answer <- answer{value: 2}
		other.answer <- answer{value: 3}
		expect(t, "the first", <-first, answer{value: 2})
		expect(t, "who came into the place that was left", <-third, answer{value: 3})
	})
}

// Callers who leave do not make room for more loads than there may be.
func TestLoadsWithoutCallersAreBoundedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options[int]{Size: 8})
		c.Bound(1)
		leaves, leave := context.WithCancel(t.Context())
		first := get(leaves, c, "slow")
		l := <-a.loads
		leave()
		expect(t, "who leaves", <-first, answer{err: context.Canceled})
		_, err := c.Get(t.Context(), "other")
		expect(t, "another load", answer{err: err}, answer{err: cached.ErrCrowded})
		l.answer <- answer{value: 1}
		synctest.Wait()
		v, err := c.Get(t.Context(), "slow")
		expect(t, "what was loaded all the same", answer{v, err}, answer{value: 1})
	})
}

// Values that weigh something are held while they weigh no more than allowed, whatever their number; a new one pushes out as
// many as it takes, those unused for longest first, and what is forgotten makes room.
func TestValuesAreWeighed(t *testing.T) {
	loads := 0
	c := cached.New(func(_ context.Context, k string) (int, error) { loads++; return strconv.Atoi(k) },
		cached.Options[int]{Size: 100, Heaviest: 10, Weigh: func(v int) int { return v }})
	load := func(k int, held bool) {
		t.Helper()
		before := loads
		if v, err := c.Get(t.Context(), strconv.Itoa(k)); v != k || err != nil {
			t.Fatalf("got %d, %v", v, err)
		}
		if (loads == before) != held {
			t.Errorf("%d: held %t, want %t", k, !held, held)
		}
	}
	load(1, false)
	load(2, false)
	load(7, false)
	load(1, true)
	load(2, true) // 7 is the one unused for longest
	load(6, false)
	load(1, true)
	load(2, true)
	load(7, false) // 6 has to go
	load(6, false) // and with it all others
	if c.Len() != 1 {
		t.Errorf("%d are held, want 1", c.Len())
	}
	c.Forget("6")
	load(7, false)
	load(3, false)
	load(7, true)
	c.ForgetAll()
	load(4, false)
	load(5, false)
	load(1, false)
	load(4, true)
	load(11, false) // more than all together: it is not held, and nothing else is
	load(11, false)
	load(1, false)
}
