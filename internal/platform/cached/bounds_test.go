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

// Ids of guilds and keys are parts of a request's first line or headers, which may have 32 KB. 10,000 absences that kept those in memory
// would take 320 MB.
func TestKeysDoNotKeepTheTextTheyAreCutFrom(t *testing.T) {
	var loaded []string
	c := cached.New(func(_ context.Context, k string) (string, error) {
		loaded = append(loaded, k)
		if k == "none" {
			return "", errAbsent
		}
		return "value", nil
	}, cached.Options{Size: 8, Absent: absent})
	ask := func() weak.Pointer[byte] {
		line := strings.Repeat("/some/none", 3000)
		_, _ = c.Get(t.Context(), line[1:5])
		_, _ = c.Get(t.Context(), line[6:10])
		return weak.Make(unsafe.StringData(line))
	}
	line := ask()
	if runtime.GC(); line.Value() != nil {
		t.Error("the text that a key was cut from is still in memory")
	}
	if c.Len() != 2 || !slices.Equal(loaded, []string{"some", "none"}) {
		t.Errorf("%d entries are held of %q, want 2", c.Len(), loaded)
	}
}

func TestTheCacheIsBoundedAndAbsencesEvictNoValue(t *testing.T) {
	loads := map[int]int{}
	c := cached.New(func(_ context.Context, key string) (int, error) {
		k, err := strconv.Atoi(key)
		loads[k]++
		if k < 0 {
			return 0, errAbsent
		}
		return k, err
	}, cached.Options{Size: 3, Absent: absent})
	ask := func(k int) {
		if _, err := c.Get(t.Context(), strconv.Itoa(k)); (err != nil) != (k < 0) {
			t.Fatalf("key %d: %v, want an error for negative keys only", k, err)
		}
	}
	for k := 1; k <= 3; k++ {
		ask(k)
	}
	for k := -1; k > -100; k-- {
		ask(k)
	}
	if c.Len() != 6 {
		t.Fatalf("the cache holds %d entries, want 3 values and 3 absences", c.Len())
	}
	ask(1)
	ask(4) // evicts 2, the least recently used
	ask(1)
	ask(2)
	if loads[1] != 1 || loads[2] != 2 {
		t.Fatalf("1 was loaded %d times and 2 %d times, want 1 and 2", loads[1], loads[2])
	}
}

// While the store is slow, most of a flood of unknown keys is rejected at once, and cached values are served.
func TestWaitingCallersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options{Size: 8})
		c.Bound(2)
		held := get(t.Context(), c, "held")
		(<-a.loads).answer <- answer{value: 1}
		expect(t, "what is loaded before", <-held, answer{value: 1})

		// One caller of each of two loads counts as much as two callers of one load.
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
		l.answer <- answer{value: 2}
		expect(t, "the first", <-first, answer{value: 2})
		synctest.Wait()
		third := get(t.Context(), c, "other")
		(<-a.loads).answer <- answer{value: 3}
		expect(t, "who came when the load had ended", <-third, answer{value: 3})
	})
}

// Callers who leave do not make room for more loads than allowed.
func TestLoadsWithoutCallersAreBoundedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArchive()
		c := cached.New(a.load, cached.Options{Size: 8})
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
