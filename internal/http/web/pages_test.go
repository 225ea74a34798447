package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https://cdn.discordapp.com; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// inline matches what the Content-Security-Policy blocks: a page that has it is broken.
var inline = regexp.MustCompile(`(?i)<style|\sstyle=|<script(?:\s[^>]*)?>[^<]|\son[a-z]+=["']|javascript:`)

// The colors follow the system until the browser chooses others, which needs no JavaScript.
func TestTheColorsAreChosen(t *testing.T) {
	s := newSite(t, options{noOAuth: true})
	b := s.browser()
	b.get("/").want(200, `<html lang="en">`, `content="light dark"`, `value="" aria-pressed="true"`)
	choose := func(theme, next string) page {
		t.Helper()
		return b.post("/theme", url.Values{"theme": {theme}, "next": {next}})
	}
	if got := choose("dark", "/leaderboard/gophers?page=1").want(200, `data-theme="dark"`, `name="color-scheme" content="dark"`, `value="dark" aria-pressed="true"`); got.path != "/leaderboard/gophers?page=1" {
		t.Errorf("the choice leads to %s, want the page it was made on", got.path)
	}
	b.get("/nowhere").want(404, `data-theme="dark"`)
	if got := choose("light", "//evil.example").want(200, `data-theme="light"`); got.path != "/" {
		t.Errorf("the choice leads to %s, want the start", got.path)
	}
	choose(`"><b>`, "/").want(200).lacks("data-theme")
	b.get("/", "Cookie", `levelboard-theme=x"y`).want(200).lacks("data-theme")
}

// A trailing slash redirects to the page, never to another site.
func TestATrailingSlashRedirects(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(1))
	b := s.browser()
	for asked, want := range map[string]string{
		"/leaderboard/gophers/": "/leaderboard/gophers", "/leaderboard/gophers//": "/leaderboard/gophers", "//leaderboard/gophers/": "/leaderboard/gophers",
		"/leaderboard/gophers/?page=1": "/leaderboard/gophers?page=1", memberPath(0) + "/": memberPath(0),
	} {
		if got := b.get(asked).want(200); got.path != want {
			t.Errorf("%s leads to %s, want %s", asked, got.path, want)
		}
	}
	for asked, want := range map[string]string{"//evil.example//": "/evil.example", "/%5Cevil.example/": "/%5Cevil.example", "/nowhere": ""} {
		if got := b.still().get(asked); got.header.Get("Location") != want {
			t.Errorf("%s leads to %q, want %q", asked, got.header.Get("Location"), want)
		}
	}
}

func TestEveryAnswerHasSecurityHeaders(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(100))
	b := s.browser()
	still := b.still()
	answers := map[string]page{
		"the start":           b.get("/").want(200),
		"the leaderboard":     b.get("/leaderboard/gophers").want(200),
		"a page past the end": b.get("/leaderboard/gophers?page=999").want(200),
		"not a page":          b.get("/leaderboard/gophers?page=0").want(400),
		"no such community":   b.get("/leaderboard/nobody").want(404, "No community"),
		"not a name":          b.get("/leaderboard/a%2Fb").want(404),
		"nowhere":             b.get("/nowhere").want(404, "There is no page"),
		"a wrong method":      b.post("/", nil).want(405),
		"sign-in":             b.get("/sign-in").want(200),
		"to the provider":     still.get("/sign-in/provider").want(303),
		"a bad callback":      b.get("/sign-in/callback").want(401),
		"sign-out":            still.post("/sign-out", nil).want(303),
		"another site's":      b.post("/sign-out", nil, "Origin", "https://evil.example").want(403),
		"a private board":     b.get("/leaderboard/" + string(closed)).want(401),
		"a search":            b.get("/leaderboard/gophers/search?q=Memb").want(200),
		"a bad search":        b.get("/leaderboard/gophers/search?q=+").want(422),
		"a member":            b.get(memberPath(0)).want(200),
		"rows":                b.get("/leaderboard/gophers/rows").want(200),
		"to a rank":           still.get("/leaderboard/gophers?rank=7").want(303),
		"a change":            b.post(memberPath(0)+"/xp", nil).want(401),
		"a reset":             b.post(memberPath(0)+"/remove", nil).want(401),
		"keys, not signed in": b.get("/profile").want(401, "Please sign in"),
		"an old asset":        b.get("/static/0000/app.css").want(404),
	}
	b.signIn()
	made := b.makeKey("name", "bot")
	answers["a new key"] = made.page
	answers["the profile"] = b.get("/profile").want(200)
	answers["a key"] = b.get(made.address).want(200)
	answers["a form with errors"] = b.post("/profile", nil).want(422)
	answers["a rotated key"] = b.post(made.address+"/rotate", url.Values{"overlap": {"1h"}}).want(200)
	answers["deleting a key"] = b.get(made.address + "/delete").want(200)
	answers["the history"] = b.get("/profile/history").want(200)
	answers["a change of a member"] = b.get(memberPath(0)).want(200, "Set XP")
	answers["a change without confirmation"] = b.post(memberPath(0)+"/xp", nil).want(422, "Tick the box")
	answers["signed in"] = b.get("/leaderboard/gophers").want(200, "Ada L.")
	kept := map[string]bool{"the leaderboard": true, "a page past the end": true, "signed in": true}
	for what, got := range answers {
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store", "Vary": "Accept-Encoding, Cookie",
		} {
			if name == "Cache-Control" && kept[what] {
				want = "private, no-cache"
			}
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", what, name, got.header.Get(name), want)
			}
		}
		if found := inline.FindString(got.text); found != "" {
			t.Errorf("%s has %q, which the policy blocks", what, found)
		}
		if len(got.text) > 120<<10 {
			t.Errorf("%s has %d bytes, want at most 120 KiB", what, len(got.text))
		}
	}
}

// members returns a page of n members.
func members(n int) []leaderboard.Ranked {
	rows := make([]leaderboard.Ranked, n)
	for i := range rows {
		name, avatar := fmt.Sprintf("Member number %d", i), strings.Repeat("a", 32)
		rows[i] = leaderboard.Ranked{Rank: int64(i + 1), Member: leaderboard.Member{
			UserID: id.User(fmt.Sprintf("3%017d", i)), XP: level.XP(5000000 - i), MessageCount: 123456,
			User: leaderboard.User{Username: fmt.Sprintf("member.number.%d", i), GlobalName: &name, Avatar: &avatar},
		}}
	}
	return rows
}

func TestHostileNamesStayNames(t *testing.T) {
	s := newSite(t, options{})
	const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`
	avatar := `../../evil" onload="alert(3)`
	s.guilds[public].Name = hostile
	s.guilds[public].Icon = &avatar
	rows := members(2)
	name := hostile
	rows[0].User = leaderboard.User{Username: `'"javascript:alert(4)`, GlobalName: &name, Avatar: &avatar}
	s.fill(rows)
	s.provider.SetUser(map[string]any{"id": ada, "username": "ada", "global_name": hostile, "avatar": avatar}, []any{
		map[string]any{"id": string(public), "name": hostile, "icon": avatar, "owner": true},
	})
	got := s.browser().get("/sign-in/provider?next=/leaderboard/gophers").want(200, "&lt;script&gt;", "You manage this")
	got.lacks("<script>alert", "<img src=x", `evil`)
}

func TestStaticFilesAreCachedByTheirHash(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	home := b.get("/").text
	addresses := regexp.MustCompile(`/static/[0-9a-f]+/[a-z.]+`).FindAllString(home, -1)
	if len(addresses) < 3 {
		t.Fatalf("the page has the static files %q, want at least 3", addresses)
	}
	for _, address := range addresses {
		got := b.get(address).want(200)
		if got.header.Get("Cache-Control") != "public, max-age=31536000, immutable" || got.header.Get("Content-Type") == "" || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s has the headers %v, want a type, a cache for a year and no cookie", address, got.header)
		}
	}
	b.get("/favicon.ico").want(200, "<svg")
	i := slices.IndexFunc(addresses, func(address string) bool { return strings.HasSuffix(address, "/app.css") })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+addresses[i], nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip") // set by hand, so the client does not unpack
	answer, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	packed, err := io.ReadAll(answer.Body)
	if whole := len(b.get(addresses[i]).text); err != nil || answer.Header.Get("Content-Encoding") != "gzip" || answer.Header.Get("Vary") != "Accept-Encoding" || len(packed) > whole/2 {
		t.Errorf("the packed file has %d bytes of %d, with %v (%v), want gzip of half the size", len(packed), whole, answer.Header, err)
	}
}

func TestTooManyRequestsForPagesAre429(t *testing.T) {
	s := newSite(t, options{limit: 3})
	b := s.browser()
	for range 3 {
		b.get("/").want(200)
	}
	got := b.get("/nowhere").want(429, "Too many requests", "Try again in")
	if got.header.Get("Retry-After") == "" {
		t.Error("the 429 has no Retry-After")
	}
	// Static files are not limited, so that the error page can be drawn.
	b.get("/favicon.ico").want(200)
}
