package cached_test

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"unsafe"
	"weak"

	"levelboard/internal/platform/cached"
)

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
