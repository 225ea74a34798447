package loadgen

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"levelboard/internal/app"
	"levelboard/internal/testing/service"
	"levelboard/internal/testing/testenv"
)

func TestEveryScenarioOnARealService(t *testing.T) {
	a := service.Start(t)
	t.Run("all", func(t *testing.T) { // waits for the parallel subtests
		for i, scenario := range Scenarios() {
			t.Run(scenario.Name, func(t *testing.T) {
				t.Parallel() // some wait for new members' cooldowns
				// A machine that hangs for half a second sends no requests.
				testenv.Again(t, func() error { return runOne(t, a, i, scenario) })
			})
		}
	})
	assertNothingLeft(t, a)
}

func runOne(t *testing.T, a *app.App, i int, scenario Scenario) error {
	result, err := Run(t.Context(), Options{
		URL: a.URL(), AdminToken: service.AdminToken, Scenario: scenario, Concurrency: 5, Duration: 500 * time.Millisecond, Members: 1230, FirstGuild: i,
		Skew: []Skew{Uniform, Zipf}[i%2], Seed: 7, Verify: true, OpsURL: "http://" + a.OpsAddr(), Batch: "10",
	})
	if err != nil {
		return err
	}
	requests := int64(0)
	for _, m := range result.Operations {
		requests += m.Requests
		if m.Requests == 0 || m.Failed() > 0 || m.Latency.P50 <= 0 || m.Latency.P50 > m.Latency.Max {
			err = errors.Join(err, fmt.Errorf("an operation has %+v, want requests without failures", m))
		}
	}
	if result.Total.Requests != requests || result.Interrupted {
		t.Errorf("the run has %+v, want %d requests, not interrupted", result, requests)
	}
	if result.Seconds < 0.4 {
		err = errors.Join(err, fmt.Errorf("the run is too short: %+v", result))
	}
	v, failed := result.Verification, result.Total.Failed()
	if result.Writers != nil {
		failed += result.Writers.Failed()
	}
	if scenario.Changes() != (v != nil) || v != nil && v.Gained != v.Acknowledged && failed == 0 {
		t.Errorf("the gained XP of %+v is not the acknowledged", v) // a failed request may have been made
	}
	if v != nil && v.Acknowledged == 0 {
		err = errors.Join(err, fmt.Errorf("the verification %+v has no acknowledged XP", v))
	}
	if w := result.Writers; (w != nil) != (scenario.writers > 0) || w != nil && w.Asked != 1000 {
		t.Errorf("the writers are %+v, want 1000 a second in scenarios with writers", w)
	} else if w != nil && (w.Requests == 0 || w.Failed() > 0) {
		err = errors.Join(err, fmt.Errorf("the writers have %+v, want requests without failures", w))
	}
	if w := result.Watched; w == nil || w.Scrapes < 1 || w.Failures > 0 {
		err = errors.Join(err, fmt.Errorf("watching /metrics gave %+v, want scrapes without failures", w))
	}
	return err
}

func assertNothingLeft(t *testing.T, a *app.App) {
	t.Helper()
	c := newClient(a.URL(), service.AdminToken, 1)
	defer c.close()
	var guilds struct{ Guilds []any }
	var keys struct{ Keys []any }
	if err := c.admin(t.Context(), http.MethodGet, "/guilds", nil, &guilds); err != nil || len(guilds.Guilds) > 0 {
		t.Errorf("the run left the guilds %v (%v)", guilds.Guilds, err)
	}
	if err := c.admin(t.Context(), http.MethodGet, "/keys", nil, &keys); err != nil || len(keys.Keys) > 0 {
		t.Errorf("the run left the keys %v (%v)", keys.Keys, err)
	}
}

func TestALoadOnSeveralGuildsOfARealService(t *testing.T) {
	a := service.Start(t)
	scenario, _ := FindScenario("increment")
	o := Options{
		URL: a.URL(), AdminToken: service.AdminToken, Scenario: scenario, Concurrency: 4, Rate: 500, Duration: 300 * time.Millisecond,
		Members: 70, Active: 40, Guilds: 30, FirstGuild: 3, KeyLimit: 1_000_000, Skew: Uniform, Seed: 7, Verify: true, Keep: true,
	}
	for round := range 3 { // the second finds the members, the third expects them
		o.Ready, o.Keep = round == 2, round < 2
		result, err := Run(t.Context(), o)
		if err != nil || result.Total.Requests == 0 || result.Total.Failed() > 0 || result.Verification.Acknowledged == 0 {
			t.Fatalf("the run is %+v (%v), want requests without failures", result, err)
		}
		if o := result.Open; o == nil || o.Asked != 500 || o.Due < 50 || result.Guilds != 30 {
			t.Errorf("the run is %+v, want 500 a second on 30 guilds", result)
		}
	}
	assertNothingLeft(t, a)
}

func TestVerificationNoticesWrongCounts(t *testing.T) {
	other := func(user string) string { return userID((memberOf(user, 120) + 1) % 120) }
	refused := func(status int, times int64) func(*fake, http.ResponseWriter, string, func(string, int64)) {
		return func(_ *fake, w http.ResponseWriter, user string, add func(string, int64)) {
			add(user, times)
			w.WriteHeader(status)
		}
	}
	for name, test := range map[string]struct {
		says     string // empty: nothing is wrong
		unknown  bool
		onChange func(f *fake, w http.ResponseWriter, user string, add func(string, int64))
	}{
		"a lost change":          {" XP lost, 0 XP too much", false, func(*fake, http.ResponseWriter, string, func(string, int64)) {}},
		"a doubled change":       {": 0 XP lost, ", false, func(_ *fake, _ http.ResponseWriter, user string, add func(string, int64)) { add(user, 2) }},
		"another member's":       {"XP lost", false, func(_ *fake, _ http.ResponseWriter, user string, add func(string, int64)) { add(other(user), 1) }},
		"a member created again": {" XP lost", false, func(f *fake, _ http.ResponseWriter, user string, _ func(string, int64)) { f.xp[user] = 0 }},
		"a deleted member": {" members missing", false, func(f *fake, _ http.ResponseWriter, user string, _ func(string, int64)) {
			delete(f.xp, user)
			f.gone = user
		}},
		"made, and then an error": {"", true, refused(http.StatusServiceUnavailable, 1)},
		"not made, and a broken connection": {"", true, func(*fake, http.ResponseWriter, string, func(string, int64)) {
			panic(http.ErrAbortHandler)
		}},
		"made twice, and an error": {"XP too much", true, refused(http.StatusServiceUnavailable, 2)},
		"refused, and made":        {"XP too much", false, refused(http.StatusForbidden, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			f.onChange = func(w http.ResponseWriter, n int, user string, add func(string, int64)) {
				if n == 10 {
					test.onChange(f, w, user, add)
				} else if user != f.gone {
					add(user, 1)
				}
			}
			result, err := runToTheWrong(t, f, startFake(t, f))
			if result == nil || result.Total.Requests < 20 {
				t.Fatalf("the run is %+v (%v), want at least 20 requests", result, err)
			}
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("the verification says %v, want %q\n%+v", err, test.says, result.Verification)
			}
			if v := result.Verification; (v.Unknown > 0) != test.unknown {
				t.Errorf("the verification is %+v, want unknown outcomes: %v", v, test.unknown)
			}
		})
	}
}

func TestTheLimitThatRefusedIsNamed(t *testing.T) {
	f := &fake{onChange: func(w http.ResponseWriter, n int, user string, add func(string, int64)) {
		if n > 5 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		add(user, 1)
	}}
	result, err := runToTheWrong(t, f, startFake(t, f))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := result.WriteTable(&table); err != nil || result.Total.Requests != 5 || !strings.Contains(table.String(), "LEVELBOARD_RATE_LIMIT_IDENTITY=0") {
		t.Errorf("the table does not name the limit (%v)\n%+v\n%s", err, result.Total, table.String())
	}
	f = &fake{onCall: func(w http.ResponseWriter, _ int) bool {
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}}
	result, err = Run(t.Context(), startFake(t, f))
	if result != nil || err == nil || !strings.Contains(err.Error(), "the members cannot be created") || !strings.Contains(err.Error(), "LEVELBOARD_RATE_LIMIT_IDENTITY=0") {
		t.Errorf("with members that cannot be created: %+v (%v), want an error that names the limit", result, err)
	}
}

func TestAnInterruptedRunIsReportedAndCleanedUp(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	f := &fake{onChange: func(_ http.ResponseWriter, n int, user string, add func(string, int64)) {
		add(user, 1)
		if n == 20 {
			interrupt()
		}
	}}
	o := startFake(t, f)
	o.Duration = time.Hour
	result, err := Run(ctx, o)
	if err != nil || !result.Interrupted || result.Total.Requests < 20 || result.Total.Failed() > 0 || result.Verification.Gained != result.Verification.Acknowledged {
		t.Errorf("the interrupted run is %+v (%v), want a verified result", result, err)
	}
	if f.guild != nil || len(f.keys) > 0 {
		t.Error("the interrupted run left its guild or keys")
	}
}

func TestAnExistingGuildIsNotTouched(t *testing.T) {
	f := &fake{guild: []byte(`{"name":"Gophers","ownerId":"100000000000000001"}`)}
	result, err := Run(t.Context(), startFake(t, f))
	if result != nil || err == nil || !strings.Contains(err.Error(), "stays untouched") || !strings.Contains(string(f.guild), "Gophers") {
		t.Errorf("a run on an existing guild: %+v (%v), the guild is %s, want an error and no change", result, err, f.guild)
	}
}

func TestWithoutAnswersAllOutcomesAreUnknown(t *testing.T) {
	f := &fake{onChange: func(http.ResponseWriter, int, string, func(string, int64)) { panic(http.ErrAbortHandler) }}
	result, err := Run(t.Context(), startFake(t, f))
	if err == nil || !strings.Contains(err.Error(), "not one request ended as it should: broken connection") {
		t.Errorf("a run without answers: %+v (%v), want an error", result, err)
	}
	if v := result.Verification; v.problem() != nil || v.Unknown == 0 || v.Gained != 0 {
		t.Errorf("the verification is %+v, want only unknown outcomes", v)
	}
}
