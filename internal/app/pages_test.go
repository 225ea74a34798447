package app_test

import (
	"bufio"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"levelboard/internal/app"
	"levelboard/internal/domain/id"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/signin"
)

// visit requests a page as a browser with cookies does, and returns its status and text.
func visit(t *testing.T, browser *http.Client, method, address, form string) (int, string) {
	t.Helper()
	headers := []string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}
	if method == http.MethodPost {
		headers = append(headers, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	}
	answer, err := testenv.Send(t.Context(), browser, method, address, form, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status, string(answer.Body)
}

// openPage opens the stream of a page and returns it with its lines.
func openPage(t *testing.T, address string) (io.ReadCloser, *bufio.Scanner) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := newBrowser(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return answer.Body, lines
}

func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport, Timeout: time.Minute}
}

func TestSigningInToTheService(t *testing.T) {
	t.Parallel()
	environ := onServers(t)
	provider := testenv.OAuth(t)
	s := start(t, append(environ, provider.Environ()...)...)
	provider.Register(s.app.URL() + "/sign-in/callback")
	g := s.guild(object{"visibility": "private", "name": "Moles & Co"})
	u := newID()
	s.create(s.key(g), g, u, 100)
	provider.SetUser(object{"id": newID(), "username": "ada"}, []object{{"id": g, "name": "Moles", "owner": true, "permissions": "0"}})

	browser := newBrowser(t)
	board := s.app.URL() + "/leaderboard/" + g
	if status, text := visit(t, browser, "GET", board, ""); status != 401 || !strings.Contains(text, "/sign-in?next=") {
		t.Fatalf("the board before signing in is %d %s, want 401 with a way to sign in", status, text)
	}
	status, text := visit(t, browser, "GET", s.app.URL()+"/sign-in/provider?next="+url.QueryEscape("/leaderboard/"+g), "")
	if status != 200 || !strings.Contains(text, "Moles &amp; Co") || !strings.Contains(text, "gopher") || !strings.Contains(text, "You manage this") {
		t.Fatalf("the board after signing in is %d %s, want it with its member and the manager's note", status, text)
	}
	signedInReads(t, s, browser, g, u)
	managersMakeEvents(t, s, browser, g, u)
	if status, text := visit(t, browser, "POST", s.app.URL()+"/sign-out", ""); status != 200 || strings.Contains(text, "ada") {
		t.Errorf("the page after signing out is %d %s, want it without ada", status, text)
	}
	if status, _ := visit(t, browser, "GET", board, ""); status != 401 {
		t.Errorf("the board after signing out is %d, want 401", status)
	}
}

// managersMakeEvents changes a member of 100 XP on the pages. A follower of the guild gets one event for each change.
func managersMakeEvents(t *testing.T, s *service, manager *http.Client, g, u string) {
	t.Helper()
	f := s.follow(s.key(g), g, "")
	moved := func(level, previous, xp int) object {
		data := object{"userId": u, "level": level, "previousLevel": previous, "xp": xp, "addRoles": roles{}, "removeRoles": roles{}}
		if level > previous {
			data["channelId"] = nil
		}
		return data
	}
	for _, c := range []struct {
		address, form, event string
		data                 object
	}{
		{"/xp", "op=take&xp=100&confirm=yes", "leveldown", moved(0, 1, 0)},
		{"/xp", "op=set&xp=4150&confirm=yes", "levelup", moved(10, 0, 4150)},
		{"/remove", "remove=on", "removed", object{"userId": u, "removeRoles": roles{}}},
	} {
		if status, text := visit(t, manager, "POST", s.app.URL()+"/leaderboard/"+g+"/members/"+u+c.address, c.form); status != 200 {
			t.Fatalf("POST to %s with %s is answered %d %s, want 200", c.address, c.form, status, text)
		}
		f.wants(c.event, c.data)
	}
}

// signedInReads calls the API as a script on the service's own page can: a signed-in user reads boards as that user, and changes nothing.
// A page of another site gets nothing: browsers send it no cookie, and hide the answer to a request with one.
func signedInReads(t *testing.T, s *service, manager *http.Client, private, member string) {
	t.Helper()
	public, ofOthers := s.guild(nil), s.guild(object{"visibility": "private"})
	s.create(s.key(ofOthers), ofOthers, member, 100)
	for _, c := range []struct {
		about, method, path string
		browser             *http.Client
		status              int
		shows, hides        string
	}{
		{"their own private board", "GET", boardPath(private, 1), manager, 200, `"isManager":true`, ""},
		{"a board of others", "GET", boardPath(public, 1), manager, 200, `"isManager":false`, ""},
		{"a private board of others", "GET", boardPath(ofOthers, 1), manager, 403, "", "isManager"},
		{"a private board, by nobody", "GET", boardPath(private, 1), newBrowser(t), 401, "", "isManager"},
		{"a card of their own private board", "GET", cardPath(private, member, "card.svg"), manager, 200, "<svg", ""},
		{"a card of a private board of others", "GET", cardPath(ofOthers, member, "card.svg"), manager, 403, "", "<svg"},
		{"a card of a private board, by nobody", "GET", cardPath(private, member, "card.svg"), newBrowser(t), 401, "", "<svg"},
		{"what needs a key", "GET", memberPath(private, newID()), manager, 401, "", ""},
		{"a change", "DELETE", memberPath(private, newID()), manager, 401, "", ""},
	} {
		got, err := testenv.Send(t.Context(), c.browser, c.method, s.app.URL()+c.path, "")
		text := string(got.Body)
		if err != nil || got.Status != c.status || !strings.Contains(text, c.shows) || c.hides != "" && strings.Contains(text, c.hides) {
			t.Errorf("%s is %d %.200s (%v), want %d with %q and without %q", c.about, got.Status, text, err, c.status, c.shows, c.hides)
		}
		if c.status == 200 && (!strings.Contains(got.Header.Get("Cache-Control"), "private") || !strings.Contains(got.Header.Get("Vary"), "Cookie")) {
			t.Errorf("shared caches may keep %s: %v", c.about, got.Header)
		}
		if got.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: other sites may send the cookie", c.about)
		}
	}
}

func TestAnUnknownAddressIs404AsPageOrJSON(t *testing.T) {
	t.Parallel()
	s := start(t, onDataDir(t)...)
	if status, text := visit(t, newBrowser(t), "GET", s.app.URL()+"/nowhere", ""); status != 404 || !strings.Contains(text, "<h1>") {
		t.Errorf("a browser got %d %s, want a page with 404", status, text)
	}
	for _, path := range []string{"/v2/nowhere", "/admin/nowhere"} {
		if status, text := visit(t, newBrowser(t), "GET", s.app.URL()+path, ""); status != 404 || !strings.HasPrefix(text, `{"message":`) {
			t.Errorf("%s: %d %s, want a 404 in JSON", path, status, text)
		}
	}
	s.bad("GET", "/nowhere", "", nil).Want(t, 404)
}

// local returns options with a sign-in that needs no provider.
func local() app.Options {
	return app.Options{Logger: slog.New(slog.DiscardHandler), Version: "test", LocalSignIn: []signin.Local{{
		User: signin.User{ID: id.User(newID()), Name: "Robin"}, About: "who owns everything",
	}}}
}

func TestTheDemosSignInIsForAnEmbeddedServiceOnLoopback(t *testing.T) {
	for _, test := range []struct {
		name    string
		options app.Options
		environ func(t *testing.T) []string
		status  int
	}{
		{"the demo", local(), onDataDir, 200},
		{"the service", app.Options{Logger: slog.New(slog.DiscardHandler)}, onDataDir, 404},
		{"on servers", local(), onServers, 404},
		{"for other machines", local(), func(t *testing.T) []string { return append(onDataDir(t), "LEVELBOARD_LISTEN=0.0.0.0:0") }, 404},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			built, _ := build(t, test.options, test.environ(t)...)
			s := run(t, built)
			status, text := visit(t, newBrowser(t), "POST", s.app.URL()+"/sign-in/local", "as=0&next=/")
			if status != test.status || strings.Contains(text, "Robin") != (status == 200) {
				t.Errorf("the sign-in is %d %s, want %d, with Robin if 200", status, text, test.status)
			}
		})
	}
}
