package loadgen

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"levelboard/internal/app"
	"levelboard/internal/config"
	"levelboard/internal/testing/testenv"
)

// startService starts a whole service on real servers; only the load comes from here.
func startService(t *testing.T) (*app.App, AdminCall) {
	t.Helper()
	const token = "an-operators-token-of-enough-length"
	cfg, _, err := config.Load([]string{
		"LEVELBOARD_LISTEN=127.0.0.1:0", "LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_ADMIN_TOKEN=" + token,
		"LEVELBOARD_REDIS_TIMEOUT=5s", "LEVELBOARD_RATE_LIMIT_IDENTITY=0", "LEVELBOARD_REDIS_URL=" + testenv.Redis(t).URL(), "LEVELBOARD_POSTGRES_URL=" + testenv.Postgres(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	a := app.New(cfg, app.Options{})
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a, adminOf(a.URL(), token)
}

func TestEveryScenarioOnARealService(t *testing.T) {
	a, admin := startService(t)
	for i, scenario := range Scenarios() {
		t.Run(scenario.Name, func(t *testing.T) {
			// Members that have sent messages are in their cooldown for ten seconds, and on a fast machine these are all: the next
			// scenario that sends some needs others.
			keep := i < len(Scenarios())-1 && scenario.Name != MessagesScenario
			result, err := Run(t.Context(), Options{
				URL: a.URL(), Admin: admin, Scenario: scenario, Concurrency: 5, Duration: 300 * time.Millisecond, Members: 230,
				Skew: []Skew{Uniform, Zipf}[i%2], Seed: 7, Verify: true, Keep: keep, WatchOps: "http://" + a.OpsAddr(), Batch: "10",
			})
			if err != nil {
				t.Fatal(err)
			}
			sum := int64(0)
			for _, m := range result.Operations {
				sum += m.Requests
				if m.Requests == 0 || m.Failed() > 0 || m.Latency.P50 <= 0 || m.Latency.P50 > m.Latency.Max {
					t.Errorf("%+v", m)
				}
			}
			if result.Total.Requests != sum || result.Seconds < 0.2 || result.Interrupted {
				t.Errorf("%+v", result)
			}
			if v := result.Verification; scenario.Changes() != (v != nil) || v != nil && (!v.Passed() || v.Acknowledged == 0 || v.Gained != v.Acknowledged) {
				t.Errorf("verification %+v", v)
			}
			if m := result.Messages; m != nil && m.Gaining == 0 {
				t.Errorf("all members are in their cooldown: %+v", m)
			}
			if w := result.Watched; w == nil || w.Scrapes < 2 || w.Failures > 0 {
				t.Errorf("watched %+v", w)
			}
			if status, _, err := admin(t.Context(), http.MethodGet, "/admin/guilds/"+guildID, nil); (status == http.StatusNotFound) == keep {
				t.Errorf("after the run, the guild: %d, %v", status, err)
			}
			if _, keys, err := admin(t.Context(), http.MethodGet, "/admin/keys", nil); err != nil || !strings.Contains(string(keys), `"keys":[]`) {
				t.Errorf("after the run, the keys: %s, %v", keys, err)
			}
		})
	}
}

func TestSeveralGuildsOnARealService(t *testing.T) {
	a, admin := startService(t)
	scenario, _ := FindScenario("increment")
	result, err := Run(t.Context(), Options{
		URL: a.URL(), Admin: admin, Scenario: scenario, Concurrency: 4, Rate: 500, Duration: 300 * time.Millisecond,
		Members: 70, Active: 40, Guilds: 30, FirstGuild: 3, KeyLimit: 1_000_000, Skew: Uniform, Seed: 7, Verify: true,
	})
	if err != nil || result.Total.Requests == 0 || result.Total.Failed() > 0 || !result.Verification.Passed() || result.Verification.Acknowledged == 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	if o := result.Open; o == nil || o.Asked != 500 || o.Due < 50 || result.Guilds != 30 {
		t.Errorf("%+v", result)
	}
	for _, guild := range []int{0, 1, 29} {
		if status, _, _ := admin(t.Context(), http.MethodGet, "/admin/guilds/"+string(appendGuildID(nil, 3+guild)), nil); status != http.StatusNotFound {
			t.Errorf("the guild %d is left behind", guild)
		}
	}
}

// The board has more members than are created by a call each.
func TestManyMembersOnARealService(t *testing.T) {
	a, admin := startService(t)
	for _, name := range []string{"page-while-writing", "rank", "poll"} { // the second finds them, the third does not look
		scenario, _ := FindScenario(name)
		result, err := Run(t.Context(), Options{
			URL: a.URL(), Admin: admin, Scenario: scenario, Concurrency: 4, Duration: 300 * time.Millisecond, Members: onePerCall + 50, Skew: Uniform, Verify: true, Keep: true, Ready: name == "poll",
		})
		if err != nil || result.Total.Requests == 0 || result.Total.Failed() > 0 {
			t.Fatalf("%+v, %v", result, err)
		}
		if w := result.Writers; (w != nil) != (scenario.writers > 0) || w != nil && (w.Asked != 1000 || w.Requests == 0 || w.Failed() > 0) {
			t.Errorf("%s: beside it %+v", name, w)
		}
	}
}

func TestVerificationNoticesWhatIsCountedWrongly(t *testing.T) {
	other := func(user string) string { // the member after it
		i, _ := strconv.ParseInt(user, 10, 64)
		return strconv.FormatInt(firstUser+(i-firstUser+1)%120, 10)
	}
	for name, test := range map[string]struct {
		says     string // empty: nothing is wrong
		unknown  bool
		onChange func(f *fake, w http.ResponseWriter, user string, add func(string, int64))
	}{
		"a lost change":    {" XP lost, 0 XP too much", false, func(*fake, http.ResponseWriter, string, func(string, int64)) {}},
		"a doubled change": {": 0 XP lost, ", false, func(_ *fake, _ http.ResponseWriter, user string, add func(string, int64)) { add(user, 2) }},
		"another member's": {"XP lost", false, func(_ *fake, _ http.ResponseWriter, user string, add func(string, int64)) { add(other(user), 1) }},
		"a member made anew": {" XP lost", false, func(f *fake, _ http.ResponseWriter, user string, _ func(string, int64)) {
			delete(f.xp, user)
		}},
		"done, and then an error": {"", true, func(_ *fake, w http.ResponseWriter, user string, add func(string, int64)) {
			add(user, 1)
			w.WriteHeader(http.StatusServiceUnavailable)
		}},
		"not done, and a broken connection": {"", true, func(*fake, http.ResponseWriter, string, func(string, int64)) {
			panic(http.ErrAbortHandler)
		}},
		"doubled, and an error": {"XP too much", true, func(_ *fake, w http.ResponseWriter, user string, add func(string, int64)) {
			add(user, 2)
			w.WriteHeader(http.StatusServiceUnavailable)
		}},
		"refused, and done": {"XP too much", false, func(_ *fake, w http.ResponseWriter, user string, add func(string, int64)) {
			add(user, 1)
			w.WriteHeader(http.StatusForbidden)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			f.onChange = func(w http.ResponseWriter, n int, user string, add func(string, int64)) {
				if n == 10 {
					test.onChange(f, w, user, add)
					return
				}
				add(user, 1)
			}
			result, err := runToTheWrong(t, f, startFake(t, f))
			if result == nil || result.Total.Requests < 20 {
				t.Fatalf("%+v, %v", result, err)
			}
			v := result.Verification
			if test.says == "" && (err != nil || !v.Passed()) || test.says != "" && (err == nil || v.Passed() || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("%v\n%+v", err, v)
			}
			if (v.Unknown > 0) != test.unknown {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestALimitIsNamed(t *testing.T) {
	t.Run("during the load", func(t *testing.T) {
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
		if err := result.WriteTable(&table); err != nil {
			t.Fatal(err)
		}
		if result.Total.Requests != 5 || result.Total.Errors[tooMany] == 0 || !strings.Contains(table.String(), "LEVELBOARD_RATE_LIMIT_IDENTITY=0") {
			t.Errorf("%+v\n%s", result.Total, table.String())
		}
	})
	t.Run("before it", func(t *testing.T) {
		f := &fake{onCreate: func(w http.ResponseWriter) bool {
			w.WriteHeader(http.StatusTooManyRequests)
			return false
		}}
		result, err := Run(t.Context(), startFake(t, f))
		if result != nil || err == nil || !strings.Contains(err.Error(), "LEVELBOARD_RATE_LIMIT_IDENTITY=0") {
			t.Errorf("%+v, %v", result, err)
		}
		if guild, key := f.left(); guild || key {
			t.Error("something is left behind")
		}
	})
}

func TestAnInterruptedRunIsReportedAndTidiedUp(t *testing.T) {
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
	if err != nil || !result.Interrupted || result.Total.Requests < 20 || result.Total.Failed() > 0 || !result.Verification.Passed() {
		t.Errorf("%+v, %v", result, err)
	}
	if guild, key := f.left(); guild || key {
		t.Error("something is left behind")
	}
}

func TestARunInterruptedBeforeTheLoadHasNoResult(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	f := &fake{onCreate: func(http.ResponseWriter) bool {
		interrupt()
		return true
	}}
	result, err := Run(ctx, startFake(t, f))
	if result != nil || err == nil || err.Error() != "stopped before the load began" {
		t.Errorf("%+v, %v", result, err)
	}
	if guild, key := f.left(); guild || key {
		t.Error("something is left behind")
	}
}

func TestAGuildOfSomebodyElseStaysUntouched(t *testing.T) {
	f := &fake{guild: []byte(`{"name":"Gophers","ownerId":"100000000000000001"}`)}
	result, err := Run(t.Context(), startFake(t, f))
	if result != nil || err == nil || !strings.Contains(err.Error(), "stays untouched") {
		t.Errorf("%+v, %v", result, err)
	}
	if !strings.Contains(string(f.guild), "Gophers") {
		t.Errorf("the guild is %s", f.guild)
	}
}

func TestAServiceThatAnswersNothingLeavesEverythingUnknown(t *testing.T) {
	f := &fake{onChange: func(http.ResponseWriter, int, string, func(string, int64)) { panic(http.ErrAbortHandler) }}
	result, err := Run(t.Context(), startFake(t, f))
	if err == nil || !strings.Contains(err.Error(), "not one request ended as it should: broken connection") {
		t.Errorf("%+v, %v", result, err)
	}
	if v := result.Verification; !v.Passed() || v.Unknown == 0 || v.Gained != 0 {
		t.Errorf("%+v", v)
	}
}

func TestAServiceThatGoesAwayIsReported(t *testing.T) {
	f := &fake{}
	f.onChange = func(_ http.ResponseWriter, n int, user string, add func(string, int64)) {
		add(user, 1)
		if n == 20 {
			f.server.Listener.Close()
			panic(http.ErrAbortHandler)
		}
	}
	o := startFake(t, f)
	o.Verify, o.Duration = false, 2*time.Second
	o.Admin = func(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
		if method == http.MethodDelete {
			return 0, nil, errors.New("nothing listens there")
		}
		return adminOf(o.URL, "")(ctx, method, path, body)
	}
	result, err := Run(t.Context(), o)
	if result == nil || result.Total.Errors[brokenOff] == 0 || result.Total.Errors[unreachable] == 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	if err == nil || !strings.Contains(err.Error(), "2 keys are left behind: the key 2 is left behind: nothing listens there") || !strings.Contains(err.Error(), "the guild "+guildID+" is left behind") {
		t.Errorf("%v", err)
	}
}

func TestAServiceThatGoesAwayBeforeTheLoadIsAnError(t *testing.T) {
	f := &fake{}
	f.onCreate = func(http.ResponseWriter) bool {
		f.server.Listener.Close()
		panic(http.ErrAbortHandler)
	}
	result, err := Run(t.Context(), startFake(t, f))
	if result != nil || err == nil || !strings.Contains(err.Error(), "the members cannot be created: ") {
		t.Errorf("%+v, %v", result, err)
	}
}
