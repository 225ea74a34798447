package loadgen

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// beforeTheLoad is what a run of startFake asks for before its load, with the key that is not the load's: for its limit, for each member to be
// made, and for the two pages that are not empty.
const beforeTheLoad = 1 + 120 + 2

// A load takes all that its caller may ask for, twice within the minute. Neither the second run nor what verifies them minds.
func TestEachRunHasBudgetsOfItsOwn(t *testing.T) {
	f := &fake{limit: beforeTheLoad + 2}
	o := startFake(t, f)
	o.Duration = 10 * time.Second
	o.sleep = func(context.Context, time.Duration) bool { return true }
	for range 2 {
		ctx, enough := context.WithCancel(t.Context())
		o.Progress = func(line string) {
			if strings.HasSuffix(line, " errors") {
				enough()
			}
		}
		result, err := Run(ctx, o)
		enough()
		if err != nil || result.Total.Requests != int64(f.limit) || result.Total.Errors[tooMany] == 0 || !result.Verification.Passed() {
			t.Fatalf("%+v, %v", result, err)
		}
		if guild, key := f.left(); guild || key {
			t.Error("something is left behind")
		}
	}
	owners := slices.Collect(maps.Keys(f.used))
	if len(owners) != 4 || slices.Contains(owners, ownerID) {
		t.Errorf("the keys of two runs belong to %v", owners)
	}
}

// What a load with boards that are ready asks for is all that there is.
func TestBoardsThatAreReadyNeedOneKey(t *testing.T) {
	f := &fake{}
	o := startFake(t, f)
	o.Keep, o.Verify, o.Duration = true, false, 10*time.Millisecond
	o.sleep = func(context.Context, time.Duration) bool { return true }
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	made := f.made
	for verify, keys := range map[bool]int{false: 1, true: 2} {
		o.Ready, o.Verify = true, verify
		if _, err := Run(t.Context(), o); err != nil || f.made-made != keys {
			t.Errorf("verify %v: %d keys, %v", verify, f.made-made, err)
		}
		made = f.made
	}
}

func TestReadingWaitsForTheLimit(t *testing.T) {
	for name, limit := range map[string]int{"before the load": beforeTheLoad - 1, "after the load": beforeTheLoad + 1} {
		t.Run(name, func(t *testing.T) {
			f := &fake{limit: limit}
			o := startFake(t, f)
			o.Duration = 10 * time.Millisecond
			waits, told := 0, ""
			o.Progress = func(line string) {
				if strings.Contains(line, "waiting") {
					told = line
				}
			}
			o.sleep = func(_ context.Context, d time.Duration) bool {
				if waits++; d != time.Second {
					t.Errorf("waits for %s", d)
				}
				f.refill()
				return true
			}
			result, err := Run(t.Context(), o)
			if err != nil || !result.Verification.Passed() || waits != 1 || told != "reading the members' XP: 1 of 2 pages, waiting for the service's limit" {
				t.Errorf("%+v, %v, %d waits, told %q", result, err, waits, told)
			}
		})
	}
}

// Nothing is wrong with a service that does not let everything be read, nor with what was measured.
func TestAVerificationThatTheLimitPreventsFailsNoRun(t *testing.T) {
	for name, test := range map[string]struct {
		limit, retryAfter int
		before            bool
		waits             int
	}{
		"it never lets the last page be read": {beforeTheLoad + 1, 1, false, int(limitPatience / time.Second)},
		"nor before the load":                 {beforeTheLoad - 1, 1, true, int(limitPatience / time.Second)},
		"it says that it will take long":      {beforeTheLoad + 1, 121, false, 0},
		"and before the load":                 {beforeTheLoad - 1, 121, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{limit: test.limit, retryAfter: test.retryAfter}
			o := startFake(t, f)
			o.Duration = 10 * time.Millisecond
			waits, warned := 0, ""
			o.sleep = func(context.Context, time.Duration) bool { waits++; return true }
			o.Warn = func(line string) { warned = line }
			result, err := Run(t.Context(), o)
			if err != nil || result.Total.Requests == 0 {
				t.Fatalf("%+v, %v", result, err)
			}
			if v := result.Verification; v.Passed() || v.Done || !v.Limited || waits != test.waits {
				t.Errorf("%+v after %d waits", v, waits)
			}
			const says = "NOT verified: the service limits its callers, and to read the members' XP would take "
			var table strings.Builder
			if err := result.WriteTable(&table); err != nil || !strings.Contains(table.String(), "\n"+says) || strings.HasPrefix(warned, says) != test.before {
				t.Errorf("%v\n%s\nwarned: %s", err, table.String(), warned)
			}
			if guild, key := f.left(); guild || key {
				t.Error("something is left behind")
			}
		})
	}
}

// With many pages it is clear at the first refusal how long they will take.
func TestReadingDoesNotBeginToWaitForTooMany(t *testing.T) {
	b := &bench{Options: Options{Progress: func(string) {}, sleep: func(context.Context, time.Duration) bool { return true }}}
	for pages, long := range map[int]bool{4400: false, 4600: true} {
		r := b.newReader(pages)
		r.read, r.limit = 1500, 1500
		if err := r.awaitLimit(t.Context(), time.Second); (err != nil) != long || long && !strings.HasSuffix(err.Error(), " would take 2m4s") {
			t.Errorf("%d pages: %v", pages, err)
		}
	}
}

func TestTheLimitIsToldBeforeTheLoad(t *testing.T) {
	for name, test := range map[string]struct {
		limit int
		rate  int
		told  bool
	}{
		"a limit":                   {1500, 0, true},
		"none":                      {0, 0, false},
		"fewer arrivals than it is": {1500, 1000, false},
		"more arrivals":             {1500, 100_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{limit: test.limit}
			o := startFake(t, f)
			o.Rate, o.Verify = test.rate, false
			var warned []string
			o.Warn = func(line string) {
				if f.changes > 0 {
					t.Error("told when the load had begun")
				}
				warned = append(warned, line)
			}
			if _, err := Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if (len(warned) == 1) != test.told || test.told && (!strings.HasPrefix(warned[0], "the service allows one caller 1,500 requests a minute") || !strings.Contains(warned[0], "LEVELBOARD_RATE_LIMIT_IDENTITY=0")) {
				t.Errorf("told %q", warned)
			}
		})
	}
}

func TestLimitOf(t *testing.T) {
	for text, want := range map[string]int{"1500": 1500, "2147483647": 0, "0": 0, "-5": 0, "": 0, "many": 0} {
		if got := limitOf(http.Header{"X-Ratelimit-Limit": {text}}); got != want {
			t.Errorf("%q is a limit of %d", text, got)
		}
	}
}
