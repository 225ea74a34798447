package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/http/web"
	"levelboard/internal/usecase/signin"
)

func TestSigningInAndOut(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.get("/leaderboard/gophers").want(200, `href="/sign-in?next=%2fleaderboard%2fgophers"`).lacks("You manage this")
	if to := b.still().get("/sign-in?next=/leaderboard/gophers").want(303).header.Get("Location"); to != "/sign-in/provider?next=%2Fleaderboard%2Fgophers" {
		t.Errorf("with one provider the sign-in leads to %s, want the provider", to)
	}
	if in := b.signIn().want(200, "You manage this", "Sign out"); in.path != "/leaderboard/gophers" {
		t.Errorf("the sign-in came back to %s, want /leaderboard/gophers", in.path)
	}
	b.get("/").want(200, "Ada L.")
	s.browser().get("/").lacks("Ada L.")

	secret := b.cookie("__Host-levelboard")
	b.post("/sign-out", nil).want(200).lacks("Ada L.")
	if b.cookie("__Host-levelboard") != "" {
		t.Error("the browser has the cookie after signing out")
	}
	s.browser().get("/", "Cookie", "__Host-levelboard="+secret).want(200).lacks("Ada L.")
	if log := s.log.String(); strings.Contains(log, secret) || strings.Contains(log, "access_token") {
		t.Errorf("the log contains a secret: %s", log)
	}
}

func TestCookiesOverHTTPSAreRestricted(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser().still()
	for step, path := range []string{"/sign-in/provider", ""} {
		if step == 1 {
			path = b.get(b.get("/sign-in/provider").header.Get("Location")).header.Get("Location")
		}
		got := b.get(path).want(303).header.Values("Set-Cookie")
		last := got[len(got)-1]
		for _, want := range []string{"__Host-levelboard", "; Path=/", "; HttpOnly", "; Secure", "; SameSite=Lax"} {
			if !strings.Contains(last, want) {
				t.Errorf("the cookie %q lacks %q", last, want)
			}
		}
		if strings.Contains(last, "Domain") {
			t.Errorf("the cookie %q has a Domain, so other hosts get it", last)
		}
	}
}

func TestPlainHTTPIsForLoopbackOnly(t *testing.T) {
	s := newSite(t, options{plainHTTP: true})
	b := s.browser()
	b.signIn()
	if b.cookie("levelboard") == "" {
		t.Error("over plain HTTP on loopback the browser has no cookie")
	}
	deps := s.deps
	deps.PublicURL = "http://levels.example"
	if _, err := web.New(deps); err == nil {
		t.Error("the pages start with sign-in over plain HTTP on a network")
	}
}

func TestASignInOfAnotherBrowserIsRefused(t *testing.T) {
	s := newSite(t, options{})
	attacker, victim := s.browser().still(), s.browser()
	callback := attacker.get(attacker.get("/sign-in/provider").header.Get("Location")).header.Get("Location")

	victim.get(callback).want(401, "started in another browser").lacks("Ada L.")
	victim.still().get("/sign-in/provider")
	victim.get(callback).want(401, "started in another browser").lacks("Ada L.")

	forged, _ := url.Parse(callback)
	q := forged.Query()
	q.Set("state", strings.Repeat("A", 43))
	forged.RawQuery = q.Encode()
	attacker.get(forged.String()).want(401)
	// A state as long as another sign-in's name is refused too.
	q.Set("state", callback[strings.Index(callback, "state=")+len("state="):][:8]+strings.Repeat("A", 35))
	forged.RawQuery = q.Encode()
	attacker.get(forged.String()).want(401)
	for _, state := range []string{"", "A", "AAAAAAAA", strings.Repeat("é", 43), strings.Repeat("A", 5000), "; =,"} {
		attacker.get("/sign-in/callback?code=x&state=" + url.QueryEscape(state)).want(401)
	}
	// The made-up attempts did not use up the attacker's own code.
	attacker.get(callback).want(303)
}

func TestTwoTabsSignInAtOnce(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	one := b.still().get("/sign-in/provider?next=/leaderboard/gophers").header.Get("Location")
	two := b.still().get("/sign-in/provider?next=/leaderboard/gophers?page=2").header.Get("Location")
	back := b.still().get(one).header.Get("Location")
	if in := b.get(one).want(200, "Ada L."); in.path != "/leaderboard/gophers" {
		t.Errorf("the first tab came to %s, want /leaderboard/gophers", in.path)
	}
	if in := b.get(two).want(200, "Ada L."); in.path != "/leaderboard/gophers?page=2" {
		t.Errorf("the second tab came to %s, want page 2", in.path)
	}
	b.get(back).want(401, "started in another browser") // each can be used once
}

func TestABrowsersOpenSignInsAreBounded(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	u, _ := url.Parse(s.url)
	long := "/leaderboard/gophers?q=" + strings.Repeat("a", 230)
	var begun []string
	for n := range 8 {
		if n > 3 {
			long = "/?" + strings.Repeat("&", 250) // three times as long in the cookie
		}
		begun = append(begun, b.still().get("/sign-in/provider?next="+url.QueryEscape(long)).want(303).header.Get("Location"))
		s.pass(time.Second)
	}
	size := 0
	for _, c := range b.Jar.Cookies(u) {
		size += len(c.String()) + 2
	}
	if n := len(b.Jar.Cookies(u)); n != 5 || size > 5*(1<<10+40) {
		t.Errorf("the browser has %d cookies of %d bytes, want 5 of 1 KiB each at most", n, size)
	}
	b.get(begun[2]).want(401, "started in another browser")
	b.get(begun[3]).want(200, "Ada L.")
	b.get(begun[7]).want(200, "Ada L.")
	// The next sign-in deletes cookies that are over or that nobody here wrote.
	b.Jar.SetCookies(u, []*http.Cookie{{Name: "__Host-levelboard-sign-in-AAAAAAAA", Value: "x", Path: "/", Secure: true}})
	s.pass(10 * time.Minute)
	b.still().get("/sign-in/provider").want(303)
	if n := len(b.Jar.Cookies(u)); n != 2 {
		t.Errorf("the browser has %d cookies, want the session's and one sign-in's: %v", n, b.Jar.Cookies(u))
	}
}

func TestACodeCanBeUsedOnce(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser().still()
	begun := b.get("/sign-in/provider")
	flow := strings.SplitN(begun.header.Get("Set-Cookie"), ";", 2)[0]
	callback := b.get(begun.header.Get("Location")).header.Get("Location")
	b.get(callback).want(303)
	b.get(callback).want(401)                                             // the sign-in's cookie is gone
	b.get(callback, "Cookie", flow).want(401, "This sign-in has expired") // the code was used
}

func TestASlowSignInExpires(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser().still()
	callback := b.get(b.get("/sign-in/provider").header.Get("Location")).header.Get("Location")
	s.pass(10*time.Minute + time.Second)
	b.get(callback).want(401, "or it expired")
}

// cameBack returns the page after a sign-in to Gophers to which the provider answered with query and the state.
func (s *site) cameBack(query string) page {
	s.t.Helper()
	b := s.browser()
	to, err := url.Parse(b.still().get("/sign-in/provider?next=/leaderboard/gophers").header.Get("Location"))
	if err != nil {
		s.t.Fatal(err)
	}
	return b.get("/sign-in/callback?" + query + "&state=" + to.Query().Get("state"))
}

// signIns returns the metric of sign-ins with this outcome.
func signIns(t *testing.T, outcome string) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(signin.Collectors()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "levelboard_sign_ins_total" && m.GetLabel()[0].GetValue() == outcome {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("the metric has no sign-ins with the outcome %s", outcome)
	return 0
}

func TestAUserWhoDeclinesIsNotSignedIn(t *testing.T) {
	s := newSite(t, options{})
	refused := signIns(t, "refused")
	s.cameBack("error=access_denied").want(401, "declined", `<a class="button button--primary" href="/sign-in?next=%2fleaderboard%2fgophers"`)
	if log := s.log.String(); strings.Contains(log, "WARN") {
		t.Errorf("a user who declined is logged as a warning: %s", log)
	}
	if n := signIns(t, "refused") - refused; n != 1 {
		t.Errorf("the metric counts %v refused sign-ins, want 1", n)
	}
}

func TestAProvidersErrorIsNotTheUsers(t *testing.T) {
	s := newSite(t, options{})
	for query, logged := range map[string]string{
		"error=server_error": "error server_error", "error=invalid_scope": "error invalid_scope", "error=temporarily_unavailable": "error temporarily_unavailable",
		"error=access_denied%0a": "error unknown", "error=Secret+things": "error unknown", "error=": "error unknown", "code=": "error unknown",
		"error=" + strings.Repeat("a", 41): "error unknown",
	} {
		failed, before := signIns(t, "failed"), len(s.log.String())
		got := s.cameBack(query).want(503, "Sign-in is temporarily unavailable", `href="/sign-in?next=%2fleaderboard%2fgophers"`).lacks("declined")
		if got.header.Get("Retry-After") == "" {
			t.Errorf("%s: the answer has no Retry-After", query)
		}
		log := s.log.String()[before:]
		if strings.Count(log, "level=WARN") != 1 || !strings.Contains(log, logged+")") || strings.Contains(log, "Secret") {
			t.Errorf("%s: the log is %s, want one warning with %s and no secret", query, log, logged)
		}
		if n := signIns(t, "failed") - failed; n != 1 {
			t.Errorf("%s: the metric counts %v failed sign-ins, want 1", query, n)
		}
	}
}

func TestAFailingProviderIs503(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	s.provider.Fail(500)
	if got := b.get("/sign-in/provider").want(503); got.header.Get("Retry-After") == "" {
		t.Error("the 503 has no Retry-After")
	}
	b.get("/leaderboard/gophers").want(200)
	s.provider.Fail(0)
	b.signIn()
}

func TestASignInLeadsToPagesOfThisSiteOnly(t *testing.T) {
	s := newSite(t, options{})
	for next, want := range map[string]string{
		"/leaderboard/gophers?page=2": "/leaderboard/gophers?page=2", "": "/", "https://evil.example/": "/", "//evil.example": "/",
		`/\evil.example`: "/", "/\t/evil.example": "/", "/\n/evil.example": "/", "javascript:alert(1)": "/", "/sign-out": "/",
		"/sign-in": "/", "evil": "/", "/" + strings.Repeat("a", 600): "/", "/ /evil": "/", "///evil.example": "/", "/%2f/evil": "/",
	} {
		b := s.browser().still()
		to := b.get("/sign-in/provider?next=" + url.QueryEscape(next)).want(303).header.Get("Location")
		back := b.get(b.get(to).want(302).header.Get("Location")).want(303).header.Get("Location")
		if back != want {
			t.Errorf("next %q led to %q, want %q", next, back, want)
		}
	}
}

func TestChangesFromOtherSitesAreRefused(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	for _, header := range [][]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", "https://evil.example", "Sec-Fetch-Site", "same-site"},
		{"Origin", strings.Replace(s.url, "https", "http", 1), "Sec-Fetch-Site", "cross-site"},
	} {
		for _, path := range []string{"/sign-out", "/sign-out/everywhere", "/nowhere"} {
			b.post(path, nil, header...).want(403, "came from another site")
		}
	}
	b.get("/").want(200, "Ada L.")
	b.get("/sign-out").want(405)
	b.get("/").want(200, "Ada L.")
}

func TestWithoutSignInThePagesSayHowToTurnItOn(t *testing.T) {
	s := newSite(t, options{noOAuth: true})
	b := s.browser()
	b.get("/leaderboard/gophers").want(200, "Sign-in is off")
	b.get("/sign-in").want(200, "LEVELBOARD_OAUTH_CLIENT_ID", web.RedirectURL(s.url))
	for _, path := range []string{"/sign-in/provider", "/sign-in/callback?code=x&state=y"} {
		b.get(path).want(404)
	}
	b.post("/sign-in/local", url.Values{"as": {"0"}}).want(404)
	b.post("/sign-out", nil).want(200)
}

var robin = signin.Local{
	User: signin.User{ID: ada, Name: "Robin"}, About: "who owns Gophers", Guilds: []signin.Guild{{ID: public, Owner: true}},
}

func TestTheDemosSignInIsForThisMachineOnly(t *testing.T) {
	s := newSite(t, options{noOAuth: true, plainHTTP: true, locals: []signin.Local{robin}})
	b := s.browser()
	b.get("/sign-in?next=/leaderboard/gophers").want(200, "Robin, who owns Gophers")
	b.post("/sign-in/local", url.Values{"as": {"0"}, "next": {"/leaderboard/gophers"}}).want(200, "You manage this", "Robin")
	s.pass(time.Hour)
	b.get("/leaderboard/gophers").want(200, "You manage this")
	for _, as := range []string{"", "1", "-1", "x"} {
		s.browser().post("/sign-in/local", url.Values{"as": {as}}).want(401)
	}
	// It refuses a proxy, a page whose host name resolves to here, and another site's form.
	for _, header := range [][]string{{"X-Forwarded-For", "203.0.113.9"}, {"Forwarded", "for=203.0.113.9"}, {"Via", "1.1 proxy"}, {"X-Real-IP", "203.0.113.9"},
		{"X-Forwarded-Host", "levels.example"}, {"X-Forwarded-Proto", "https"}, {"Host", "evil.example"}} {
		s.browser().post("/sign-in/local", url.Values{"as": {"0"}}, header...).want(404)
		s.browser().get("/sign-in", header...).want(200).lacks("Robin")
	}
	s.browser().post("/sign-in/local", url.Values{"as": {"0"}}, "Origin", "https://evil.example").want(403)
	// It also refuses a proxy that sends no header, as nginx does by default.
	for _, origin := range []string{"https://levels.example", "http://203.0.113.9:8080", "null"} {
		s.browser().post("/sign-in/local", url.Values{"as": {"0"}}, "Origin", origin, "Sec-Fetch-Site", "same-origin").want(404)
	}
	for _, origin := range []string{"http://localhost:8080", "http://[::1]:8080"} {
		s.browser().post("/sign-in/local", url.Values{"as": {"0"}}, "Origin", origin, "Sec-Fetch-Site", "same-origin").want(200, "Robin")
	}
}

func TestTheDemosSignInIsOffByDefault(t *testing.T) {
	s := newSite(t, options{})
	s.browser().get("/sign-in").want(200).lacks("demo")
	s.browser().post("/sign-in/local", url.Values{"as": {"0"}}).want(404)
}
