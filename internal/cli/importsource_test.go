package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// The members of a real service with a private board are read page by page.
func TestMembersOfAnotherServiceAreImported(t *testing.T) {
	there, a := startService(t, "LEVELBOARD_SNAPSHOT_INTERVAL=200ms", "LEVELBOARD_RATE_LIMIT_KEY=120")
	succeed(t, there, strings.Replace(gophersDocument, `"memberCount"`, `"visibility":"private","memberCount"`, 1), "guild", "apply", "-f", "-")
	imports(t, there, table(250), "-")
	var key struct{ Key string }
	out := succeed(t, there, "", "key", "create", "--name", "n", "--owner", gophers, "--permission", "read", "--guild", gophers, "--json")
	if err := json.Unmarshal([]byte(out), &key); err != nil {
		t.Fatal(err)
	}
	here, _ := startService(t, "LEVELBOARD_SNAPSHOT_INTERVAL=200ms")
	for i, base := range []string{a.URL(), a.URL() + "/v2/"} {
		succeed(t, here, gophersDocument, "guild", "apply", "-f", "-")
		if done := imports(t, here, "", "--source-url", base, "--source-guild", gophers, "--source-key", key.Key); done.Members != 250 || done.Created != 250*(1-i) {
			t.Errorf("from %s: the import answers %+v, want 250 members, created the first time", base, done)
		}
	}
	if exported(t, here) != exported(t, there) {
		t.Error("the imported members differ from the source's")
	}
	r := run(t, here, "", "import", "--guild", gophers, "--yes", "--source-url", a.URL(), "--source-guild", gophers)
	if r.code != exitFailed || !strings.Contains(r.stderr, "the source answered 401 Unauthorized for page 1") {
		t.Errorf("without a key: exit code %d, want the source's 401: %s", r.code, r.stderr)
	}
}

// Members move while the pages are read: after each page the last of all gains the most XP. Nobody is missed or imported twice, and the
// service's limit is obeyed.
func TestMembersWhoMoveBetweenPagesAreImportedOnce(t *testing.T) {
	const size = 10
	type member struct {
		UserID string `json:"userId"`
		XP     int    `json:"xp"`
	}
	var board []member
	for i := range 55 {
		board = append(board, member{fmt.Sprint(200000000000000000 + i), 1000 - i})
	}
	moves, refused := 3, 0
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refused == 0 && r.URL.Query().Get("page") == "2" {
			refused++
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		var n int
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &n)
		from := min((n-1)*size, len(board))
		_ = json.NewEncoder(w).Encode(map[string]any{"levels": board[from:min(from+size, len(board))]})
		if moves > 0 && n > 1 {
			moves--
			last := board[len(board)-1]
			board = slices.Insert(board[:len(board)-1], 0, member{last.UserID, board[0].XP + 1})
		}
	}))
	defer source.Close()
	environ, _ := withMembers(t, nil)
	done := imports(t, environ, "", "--source-url", source.URL, "--source-guild", gophers)
	if done.Members != len(board) || refused != 1 {
		t.Errorf("the import answers %+v with %d refused, want %d members and 1 refused", done, refused, len(board))
	}
	there := exported(t, environ)
	for _, m := range board {
		if lines := linesWith(there, m.UserID); len(lines) != 1 || !strings.Contains(lines[0], fmt.Sprintf(`"xp":%d`, m.XP)) {
			t.Errorf("member %+v was imported as %v, want one line with its XP", m, lines)
		}
	}
}

// A member who leaves between pages moves others up, past the next page. The next pass finds them. If somebody joins in each pass, the
// import warns.
func TestMembersWhoLeaveBetweenPagesHideNobody(t *testing.T) {
	const size = 10
	var board []string
	for i := range 45 {
		board = append(board, fmt.Sprint(200000000000000000+i))
	}
	joined, leaves, joins := 0, true, false
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &n)
		from := min((n-1)*size, len(board))
		levels := []map[string]any{}
		for _, user := range board[from:min(from+size, len(board))] {
			levels = append(levels, map[string]any{"userId": user, "xp": 5})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"levels": levels})
		switch {
		case n == 2 && leaves:
			board, leaves = board[1:], false
		case n == 2 && joins:
			joined++
			board = append([]string{fmt.Sprint(300000000000000000 + joined)}, board...)
		}
	}))
	defer source.Close()
	environ, _ := withMembers(t, nil)
	from := []string{"--source-url", source.URL, "--source-guild", gophers}
	if done := imports(t, environ, "", from...); done.Members != 45 {
		t.Errorf("the import answers %+v, want 45 members", done)
	}
	joins = true
	r := run(t, environ, "", append([]string{"import", "--guild", gophers, "--yes"}, from...)...)
	if r.code != exitOK || !strings.Contains(r.stdout+r.stderr, "Import again to get those who were missed") || joined != maxPasses {
		t.Errorf("with new members in each pass: exit code %d after %d passes, want a warning after %d: %s", r.code, joined, maxPasses, r.stderr)
	}
}

// A source may have large settings. One that ignores the page must not be read forever.
func TestASourceThatIgnoresThePageIsReadOnce(t *testing.T) {
	settings := `"guild":{"id":"` + gophers + `"},"vanity":"` + strings.Repeat("x", 70<<10) + `"`
	pages := 0 // known pages; others give the first
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pages > 0 && r.URL.Query().Get("page") != "1" {
			_, _ = w.Write([]byte(`{"levels":[]}`))
			return
		}
		_, _ = w.Write([]byte(`{` + settings + `,"levels":[{"userId":"200000000000000001","xp":7,"level":0}]}`))
	}))
	environ, _ := withMembers(t, nil)
	from := []string{"import", "--guild", gophers, "--yes", "--source-url", source.URL, "--source-guild", gophers}
	fail(t, environ, exitFailed, "page 2 of the source repeats page 1", from...)
	pages = 1
	if done := imports(t, environ, "", from[4:]...); done.Members != 1 || done.Created != 1 {
		t.Errorf("with large settings the import answers %+v, want 1 created", done)
	}
	source.Close()
	r := run(t, environ, "", from...)
	if r.code != exitFailed || strings.Count(r.stderr, source.URL) != 1 || strings.Contains(r.stderr, "cannot be read") {
		t.Errorf("with a silent source: exit code %d, want the source once: %s", r.code, r.stderr)
	}
}
