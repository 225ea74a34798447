package app_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

var unlimitedCases = cases{
	"every answer has the limits":     onEveryAnswer,
	"a key may have its own limit":    keysOwnLimit,
	"a 429 has the headers":           refusalHasHeaders,
	"429 comes before other refusals": limitComesFirst,
	"bad requests are charged":        badRequestsAreCharged,
	"the admin API is not limited":    adminIsNotLimited,
}

func header(t *testing.T, r apitest.Response, name string) int {
	t.Helper()
	n, err := strconv.Atoi(r.Header.Get(name))
	if err != nil {
		t.Errorf("%s is %q, want a whole number", name, r.Header.Get(name))
	}
	return n
}

// limits are the three headers of an answer.
type limits struct{ limit, remaining, reset int }

func limitsOf(t *testing.T, r apitest.Response) limits {
	t.Helper()
	wantLimits(t, r)
	return limits{header(t, r, limitHeaders[0]), header(t, r, limitHeaders[1]), header(t, r, limitHeaders[2])}
}

func onEveryAnswer(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	_, key := s.mint(object{"guildIds": []string{g}, "rateLimit": 1000000})
	etag := s.etag(key, g, 1)
	match := apitest.Header("If-None-Match", etag)
	for _, c := range []struct {
		method, path, key, body string
		status                  int
		option                  apitest.Option
	}{
		{"GET", boardPath(g, 1), key, "", 200, nil},
		{"GET", boardPath(g, 1), key, "", 304, match},
		{"GET", boardPath(g, 1), "", "", 200, nil},
		{"HEAD", boardPath(g, 1), key, "", 200, nil},
		{"GET", "/v2/openapi.json", "", "", 200, nil},
		{"GET", "/v2/openapi.json", key, "", 200, nil},
		{"POST", memberPath(g, u), key, `{"xp":1,"user":{"avatar":null,"discriminator":"0","username":"x"}}`, 200, nil},
		{"POST", memberPath(g, u), key, `{"xp":1,"user":{"avatar":null,"discriminator":"0","username":"x"}}`, 409, nil},
		{"GET", memberPath(g, u), key, "", 200, nil},
		{"PATCH", memberPath(g, u), key, `{"xp":2}`, 200, nil},
		{"PATCH", memberPath(g, u), key, `{"xp":-2}`, 400, nil},
		{"PATCH", memberPath(g, u), key, `{"xp":2}`, 415, apitest.Header("Content-Type", "text/plain")},
		{"PATCH", memberPath(g, u), key, `{"xp":2}` + strings.Repeat(" ", 64<<10), 413, nil},
		{"DELETE", memberPath(g, u), key, "", 204, nil},
		{"DELETE", memberPath(g, u), key, "", 404, nil},
		{"GET", memberPath(g, u), "", "", 401, nil},
		{"GET", memberPath(g, u), "letmein", "", 401, nil},
		{"GET", rewardPath(g, 1), key, "", 200, nil},
		{"GET", rewardPath(newID(), 1), key, "", 404, nil},
		{"GET", "/v2", key, "", 404, nil},
		{"GET", "/v2/", "", "", 404, nil},
		{"GET", "/v2/nothing/here", key, "", 404, nil},
		{"GET", "/v2/nothing", "letmein", "", 401, nil},
		{"PUT", memberPath(g, u), key, `{}`, 405, nil},
		{"POST", boardPath(g, 1), "", `{}`, 405, nil},
		{"DELETE", "/v2/openapi.json", key, "", 405, nil},
		{"PROPFIND", rewardPath(g, 1), key, "", 405, nil},
		{"OPTIONS", memberPath(g, u), key, "", 405, nil},
	} {
		options := []apitest.Option{apitest.Bad()}
		if c.option != nil {
			options = append(options, c.option)
		}
		got := s.Do(c.method, c.path, c.key, bodyOrNone(c.body), options...)
		if got.Status != c.status {
			t.Errorf("%s %s is %d, want %d", c.method, c.path, got.Status, c.status)
		}
		seen := limitsOf(t, got)
		if c.key == key && (seen.limit != 1000000 || seen.remaining >= 1000000) || c.key != key && seen != (limits{maxXP, maxXP, 0}) {
			t.Errorf("%s %s (%d) has the limits %+v, want those of its key or address", c.method, c.path, got.Status, seen)
		}
		if retry := got.Header.Get("Retry-After"); retry != "" {
			t.Errorf("%s %s (%d) has Retry-After %s, want none", c.method, c.path, got.Status, retry)
		}
		if allow := got.Header.Get("Allow"); (allow != "") != (got.Status == 405) {
			t.Errorf("%s %s (%d) has Allow %q, want it with 405 only", c.method, c.path, got.Status, allow)
		}
	}
}

func keysOwnLimit(t *testing.T, s *service) {
	g := s.guild(nil)
	_, key := s.mint(object{"guildIds": []string{g}, "rateLimit": 3})
	for i := range 3 {
		got := limitsOf(t, s.Do("GET", rewardPath(g, 1), key, nil).Want(t, 200))
		if got.limit != 3 || got.remaining != 2-i {
			t.Errorf("after %d requests the limits are %+v, want %d of 3 left", i+1, got, 2-i)
		}
	}
	for range 2 {
		got := s.Do("GET", rewardPath(g, 1), key, nil)
		wantFailure(t, got, 429)
		if seen := limitsOf(t, got); seen.limit != 3 || seen.remaining != 0 || seen.reset < 1 || seen.reset > 60 {
			t.Errorf("the refusal's limits are %+v, want 0 of 3 left and a reset within 60 s", seen)
		}
		if retry := header(t, got, "Retry-After"); retry < 1 || retry > 20 {
			t.Errorf("Retry-After is %d, want 1 to 20, because one request is allowed every 20 s", retry)
		}
	}
	// Another key has its own budget.
	s.Do("GET", rewardPath(g, 1), s.reader(g), nil).Want(t, 200)
}

// spent returns a key whose budget is used up for some seconds.
func (s *service) spent(guilds ...string) string {
	s.t.Helper()
	_, key := s.mint(object{"guildIds": some(guilds), "rateLimit": 1})
	s.Do("GET", "/v2/openapi.json", key, nil).Want(s.t, 200)
	return key
}

func refusalHasHeaders(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.spent(g)
	for _, c := range v2Calls(t, g, newID()) {
		got := s.Do(c.Method, c.Address(), key, bodyOrNone(c.Body))
		wantRefused(t, got, 429)
		if retry := header(t, got, "Retry-After"); retry < 1 || retry > 60 {
			t.Errorf("Retry-After is %d, want 1 to 60", retry)
		}
	}
	if levels := s.board("", g, 1).Levels; len(levels) != 0 {
		t.Errorf("a refused request changed the board to %v, want no rows", levels)
	}
}

func limitComesFirst(t *testing.T, s *service) {
	key := s.spent()
	wantRefused(t, s.bad("GET", memberPath("x", "y"), key, nil), 429)
	wantRefused(t, s.Do("GET", rewardPath(newID(), 1), key, nil), 429)
	wantRefused(t, s.Do("GET", rewardPath(s.guild(nil), 1), key, nil), 429)
	for _, path := range []string{"/v2/nothing", "/v2/openapi.json"} {
		wantRefused(t, s.Do("GET", path, key, nil), 429)
	}
	wantRefused(t, s.Do("DELETE", "/v2/openapi.json", key, nil), 429)
}

func badRequestsAreCharged(t *testing.T, s *service) {
	_, key := s.mint(object{"rateLimit": 3})
	s.bad("GET", memberPath("x", "y"), key, nil).Want(t, 400)
	s.Do("GET", "/v2/nothing", key, nil).Want(t, 404)
	s.Do("DELETE", "/v2/openapi.json", key, nil).Want(t, 405)
	s.Do("GET", "/v2/openapi.json", key, nil).Want(t, 429)
}

func adminIsNotLimited(t *testing.T, s *service) {
	got := s.admin("GET", "/guilds?limit=1", nil).Want(t, 200)
	for _, name := range limitHeaders {
		wantHeader(t, got, name, "")
	}
}

var limitCases = cases{
	"two keys of an owner share a limit":          identityOverTwoKeys,
	"a bad key is charged to the address":         addressWithBadKey,
	"the last foreign X-Forwarded-For is charged": lastForwardedAddress,
}

// untilRefused sends requests until one is 429. As many must pass as a limit of this many a minute allows: limit at once, and those
// that were refilled meanwhile.
func (s *service) untilRefused(limit int, send func() apitest.Response) {
	s.t.Helper()
	began := time.Now()
	for passed := 0; ; passed++ {
		got := send()
		if got.Status == 429 {
			added := int(time.Since(began)*time.Duration(limit)/time.Minute) + 1
			if passed < limit || passed > limit+added {
				s.t.Errorf("%d requests passed, want %d and at most %d more for the time it took", passed, limit, added)
			}
			if retry := header(s.t, got, "Retry-After"); retry < 1 {
				s.t.Errorf("Retry-After of a refusal is %d, want 1 or more", retry)
			}
			return
		}
		if got.Status != 200 || passed > 2*limit {
			s.t.Fatalf("request %d is %d %s, want 200 up to the limit of %d and then 429", passed, got.Status, got.Body, limit)
		}
	}
}

// refused sends a request until it is 429, because the limit may just have refilled by one.
func (s *service) refused(path, key string) (got apitest.Response) {
	s.t.Helper()
	testenv.Wait(s.t, "it is refused", func() bool {
		got = s.Do("GET", path, key, nil)
		return got.Status == 429
	})
	return got
}

func (s *service) quickly(path, key string, options ...apitest.Option) func() apitest.Response {
	return func() apitest.Response {
		got, err := s.quick("GET", path, key, "", options...)
		if err != nil {
			s.t.Fatal(err)
		}
		return got
	}
}

func from(addresses ...string) apitest.Option {
	return func(r *http.Request) { r.Header["X-Forwarded-For"] = addresses }
}

func TestTheDefaultLimitsAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	s := start(t, append(onDataDir(t), "LEVELBOARD_RATE_LIMIT_KEY=", "LEVELBOARD_RATE_LIMIT_IDENTITY=")...)
	g := s.guild(nil)
	key := s.key(g)
	first := limitsOf(t, s.Do("GET", boardPath(g, 1), key, nil).Want(t, 200))
	if first != (limits{120, 119, 1}) {
		t.Errorf("the first answer to a key has the limits %+v, want 119 of 120 left", first)
	}
	if first := limitsOf(t, s.Do("GET", boardPath(g, 1), "", nil).Want(t, 200)); first != (limits{1500, 1499, 1}) {
		t.Errorf("the first answer to an address has the limits %+v, want 1499 of 1500 left", first)
	}
	s.untilRefused(120, s.quickly(boardPath(g, 1), s.key(g)))
}
