package app_test

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
)

// everyRead reads every readable route, with a key and as a visitor, and keeps the bodies by address. It lists the queries of routes
// that need one; a new route that cannot be read without one fails the test.
type everyRead struct {
	t       *testing.T
	s       *service
	g, key  string
	queries map[string][]string
}

// tellOfHidden lists the routes left out: they list hidden users for managers, are a stream, or show no member.
var tellOfHidden = []string{
	"/admin/", "/v2/guilds/:guildId/hidden", "/v2/guilds/:guildId/events", "/v2/openapi.json", "/leaderboard/:entry/live", "/static/", "/sign-in", "/favicon.ico",
}

// forManagers are pages that a visitor cannot read.
var forManagers = []string{"/guilds/", "/profile", "/leaderboard/:entry/members/:userId/xp"}

func begins(path string, with []string) bool {
	return slices.ContainsFunc(with, func(begin string) bool { return strings.HasPrefix(path, begin) })
}

func newEveryRead(t *testing.T, s *service, g, key string, users []string) everyRead {
	board := []string{"?page=1", "?page=1&period=day", "?page=1&period=week", "?page=1&period=month", "?page=1&period=season-old"}
	member := "/v2/guilds/:guildId/members"
	return everyRead{t, s, g, key, map[string][]string{
		"/v2/levels/:entry":                        board,
		"/v2/levels/:entry/periods":                {"?page=1"},
		"/v2/levels/:entry/activity":               {"?days=30"},
		member:                                     {"?ids=" + users[0] + "," + users[2], "?search=zor", "?search=seed"},
		member + "/:userId/around":                 {"?limit=11", "?limit=11&period=week", "?limit=11&period=season-old"},
		member + "/:userId/history":                {"?days=9"},
		"/v2/guilds/:guildId/role-rewards/level":   {"?level=1&userId=" + users[0]},
		"/leaderboard":                             {"?entry=" + g},
		"/leaderboard/:entry":                      append(board, "", "?member="+users[0], "?rank=2"),
		"/leaderboard/:entry/rows":                 board,
		"/leaderboard/:entry/search":               {"?q=zor", "?q=zor&period=week", "?q=seed", "?q=%232"},
		"/leaderboard/:entry/periods":              {"", "?kind=season"},
		"/leaderboard/:entry/preview.png":          {"", "?period=day", "?period=season-old"},
		"/embed/:entry":                            {"", "?period=week"},
		"/v2/levels/:entry/users/:userId/card.png": {"", "?theme=dark"},
	}}
}

// bodies reads all routes about one member's neighbours, with user as :userId.
func (e everyRead) bodies(user string) map[string]string {
	e.t.Helper()
	found, visitor := map[string]string{}, newBrowser(e.t)
	for _, path := range e.s.app.Reads() {
		if begins(path, tellOfHidden) {
			continue
		}
		queries := e.queries[path]
		if queries == nil {
			queries = []string{""}
		}
		for _, query := range queries {
			address := strings.NewReplacer(":entry", e.g, ":guildId", e.g, ":userId", user, ":key", "none").Replace(path) + query
			status, body := 0, ""
			if strings.HasPrefix(path, "/v2/") {
				got, err := e.s.quick(http.MethodGet, address, e.key, "")
				if err != nil {
					e.t.Fatal(err)
				}
				status, body = got.Status, string(got.Body)
			} else {
				status, body = visit(e.t, visitor, http.MethodGet, e.s.app.URL()+address, "")
			}
			if want := map[bool]int{true: 401, false: 200}[begins(path, forManagers) && path != "/profile/erased"]; status != want {
				e.t.Errorf("GET %s: %d, want %d (a new route that shows no member stands in tellOfHidden, one with a query in newEveryRead)\n%.300s", address, status, want, body)
			}
			found[address] = body
		}
	}
	return found
}

// showing returns the addresses whose body contains one of the texts.
func showing(bodies map[string]string, texts ...string) (addresses []string) {
	for address, body := range bodies {
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(body, text) }) {
			addresses = append(addresses, address)
		}
	}
	slices.Sort(addresses)
	return addresses
}

// No route's answer contains a hidden member, neither on the replica that hid the member nor on another one, though both had cached it.
// All routes show the member again once the flag is lifted.
func TestNoRouteShowsWhoIsHidden(t *testing.T) {
	t.Parallel()
	environ := append(onServers(t), often, "LEVELBOARD_FONT_DIR="+fontDir)
	s := start(t, environ...)
	g, users := s.closedGuild(object{"periods": []string{"day", "week", "month"}, "embedding": true})
	key, zorro := s.key(g), users[1]
	for _, u := range users {
		name := map[bool]string{true: "zorro", false: "seeded"}[u == zorro]
		s.Do("POST", "/v2/guilds/"+g+"/messages", key, object{"messages": []object{
			{"userId": u, "channelId": newID(), "user": object{"avatar": nil, "discriminator": "0", "username": name}},
		}}).Want(t, 200)
	}
	s.closes(key, g, "season-old")
	other := start(t, environ...)
	walks := []everyRead{newEveryRead(t, s, g, key, users), newEveryRead(t, other, g, key, users)}
	testenv.Wait(t, "the name is found", func() bool {
		got := s.Do("GET", "/v2/guilds/"+g+"/members?search=zor", key, nil)
		return strings.Contains(string(got.Body), zorro)
	})
	preview := "/leaderboard/" + g + "/preview.png"
	var shown []string
	var before []map[string]string
	for i, walk := range walks {
		before = append(before, walk.bodies(users[0]))
		found := showing(before[i], zorro, "zorro")
		if i > 0 && !slices.Equal(found, shown) {
			t.Errorf("replica 0 shows the members at %v, replica %d at %v", shown, i, found)
		}
		shown = found
	}
	if len(shown) < 25 {
		t.Errorf("%d answers show a member who is on the board, want at least 25: %v", len(shown), shown)
	}
	allTime, lines := openPage(t, other.app.URL()+"/leaderboard/"+g)
	defer allTime.Close()

	s.hide(key, g, "self", true, 1, zorro)
	board := "/v2/levels/" + g + "?page=1"
	testenv.Wait(t, "the other replica hides them, too", func() bool {
		got := other.Do("GET", board, key, nil).Want(t, 200)
		return !strings.Contains(string(got.Body), zorro)
	})
	after := map[string]string{}
	for i, walk := range walks {
		bodies := walk.bodies(users[0])
		if found := showing(bodies, zorro, "zorro"); len(found) > 0 {
			t.Errorf("replica %d shows the hidden member at %v", i, found)
		}
		for _, picture := range []string{preview, preview + "?period=day", preview + "?period=season-old"} {
			if bodies[picture] == before[i][picture] {
				t.Errorf("replica %d still serves %s from before the member was hidden", i, picture)
			}
		}
		maps.Copy(after, bodies)
	}
	for order := `"order":["m` + users[0] + `","m` + users[2] + `"]`; !strings.Contains(lines.Text(), order); {
		if !lines.Scan() {
			t.Fatalf("the stream of the open page ended before it showed %s (%v)", order, lines.Err())
		}
	}
	for _, path := range []string{"/leaderboard/" + g + "/members/" + zorro, "/leaderboard/" + g + "/members/" + zorro + "/standing"} {
		if status, body := visit(t, newBrowser(t), "GET", s.app.URL()+path, ""); status != 404 || strings.Contains(body, "zorro") {
			t.Errorf("GET %s is %d, want 404 without the hidden member's name", path, status)
		}
	}
	s.hide(key, g, "self", false, 1, zorro)
	if found := showing(walks[0].bodies(users[0]), zorro, "zorro"); !slices.Equal(found, shown) {
		t.Errorf("once the flag is lifted the member is shown at %v, want %v", found, shown)
	}
	// The preview with a hidden member equals the preview without that member.
	s.Do("DELETE", memberPath(g, zorro), key, nil).Want(t, 204)
	got, err := s.quick("GET", preview, "", "")
	if err != nil || got.Status != 200 || !bytes.Equal(got.Body, []byte(after[preview])) {
		t.Errorf("the preview after the hidden member was deleted differs from the one before: %d, %v", got.Status, err)
	}
}
