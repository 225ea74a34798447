package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"

	"github.com/chromedp/chromedp"
)

// page is a page that people come to.
type page struct {
	name   string // names the screenshots
	path   string
	signed bool // opened by Ada
}

// TestEveryPageIsReadableAtEveryWidth opens the pages in light and dark, on a phone, a tablet and a desktop.
func TestEveryPageIsReadableAtEveryWidth(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.busyGuild()
	secret := s.guild(object{"name": "Moles", "visibility": "private", "vanity": "moles"})
	empty := s.guild(object{"name": "A very new community with a long and hopeful name", "memberCount": 1})
	off := s.guild(object{"name": "Sleepers", "enabled": false})
	s.adaManages(g, secret)
	top := s.first(g)
	pages := []page{
		{name: "home", path: "/"},
		{name: "home-manager", path: "/", signed: true},
		{name: "find-me", path: "/leaderboard/gophers?member=me", signed: true},
		{name: "sign-in", path: "/sign-in"},
		{name: "leaderboard", path: "/leaderboard/gophers"},
		{name: "leaderboard-manager", path: "/leaderboard/gophers?page=2", signed: true},
		{name: "member-manager", path: "/leaderboard/gophers/members/" + top, signed: true},
		{name: "search", path: "/leaderboard/gophers/search?q=" + top},
		{name: "profile", path: "/profile", signed: true},
		{name: "settings", path: "/guilds/" + g + "/settings", signed: true},
		{name: "periods", path: "/leaderboard/gophers/periods"},
		{name: "levels", path: "/leaderboard/gophers/levels", signed: true},
		{name: "leaderboard-past-the-end", path: "/leaderboard/gophers?page=99"},
		{name: "leaderboard-empty", path: "/leaderboard/" + empty},
		{name: "leaderboard-off", path: "/leaderboard/" + off},
		{name: "leaderboard-private", path: "/leaderboard/moles"},
		{name: "leaderboard-unknown", path: "/leaderboard/nobody"},
		{name: "not-found", path: "/nowhere"},
	}
	b, ada := s.tab(t), s.tab(t)
	ada.signIn("/profile")
	ada.fill("#name", "my bot")
	ada.press("Create key")
	ada.see("Copy it now")
	ada.inspect("key-secret")
	ada.press("Done")
	ada.see("Rename")
	ada.inspect("key")
	ada.press("Delete this key…")
	ada.see("Delete key")
	ada.inspect("key-delete")
	pages = append(pages, page{name: "key-history", path: "/profile/history", signed: true})
	for _, p := range pages {
		if p.signed {
			ada.walk(p)
		} else {
			b.walk(p)
		}
	}
}

// A name without a space is as long as names may be, and the phone is narrow.
func TestLongNamesFitAPhone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	long := strings.Repeat("W", 60)
	g := s.guild(object{"name": long, "announcements": []object{{"name": long, "kind": "webhook", "url": "https://" + long + ".example/x"}}, "roleRewards": []object{{"level": 1, "roles": []object{{"id": newID(), "name": long, "color": nil, "position": 1}}}}})
	u := s.member(s.key(g), g, long, 1000)
	s.provider.SetUser(object{"id": ada, "username": "ada", "global_name": "Ada Lovelace " + long, "avatar": nil}, []object{{"id": g, "name": long, "icon": nil, "owner": true, "permissions": "0"}})
	b := s.tab(t)
	b.signIn("/leaderboard/" + g)
	b.look(360, "light")
	for _, path := range []string{"/leaderboard/" + g, "/leaderboard/" + g + "/members/" + u, "/leaderboard/" + g + "/search?q=" + long[:9], "/guilds/" + g + "/settings", "/profile", "/"} {
		b.open(path)
		if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
			t.Errorf("%s scrolls sideways by %d px", path, over)
		}
		if over := eval[float64](b, "document.querySelector('.brand').getBoundingClientRect().right - document.querySelector('.menu > summary').getBoundingClientRect().left"); over > 0 {
			t.Errorf("%s: the account covers the brand, by %v px", path, over)
		}
		b.shoot("long-names" + strings.ReplaceAll(path, "/", "-"))
	}
}

func (b *tab) walk(p page) {
	b.t.Helper()
	b.open(p.path)
	b.inspect(p.name)
}

// inspect checks the current page at every width and in both schemes.
func (b *tab) inspect(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{390, 768, 1280} {
			where := fmt.Sprintf("%s-%d-%s", name, width, scheme)
			b.look(width, scheme)
			if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
				b.t.Errorf("%s scrolls sideways by %d px", where, over)
			}
			b.accessible(where)
			b.shoot(where)
		}
	}
}

// whole lists screenshots of the whole page, those of docs/settings.md and docs/import.md.
var whole = []string{"settings-1280-dark", "data-preview-1280-light"}

// shoot takes a screenshot of the window, and keeps it if BROWSERTEST_SCREENSHOTS is set.
func (b *tab) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("BROWSERTEST_SCREENSHOTS")
	if dir == "" {
		dir = b.t.TempDir()
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if slices.Contains(whole, name) {
		b.do(chromedp.EmulateViewport(1280, eval[int64](b, "document.documentElement.scrollHeight")))
	}
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatalf("taking the screenshot %s: %v", name, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// first returns the member at the top of a guild's board.
func (s *site) first(g string) string {
	s.t.Helper()
	return apitest.At[string](s.t, s.Do("GET", "/v2/levels/"+g+"?page=1", "", nil).Want(s.t, 200), "levels", 0, "userId")
}

// busyGuild creates a guild with everything that a board can show.
func (s *site) busyGuild() string {
	s.t.Helper()
	colours := map[string]int{"Regular": 0x2e9e5b, "Burrower": 0x3b82f6, "Speaker": 0xa855f7, "Elder of the Warren": 0xe91e63, "Booster": 0xf59e0b}
	role := func(name string) object {
		r := object{"id": newID(), "name": name, "color": nil, "position": 1}
		if colour, ok := colours[name]; ok {
			r["color"] = colour
		}
		return r
	}
	g := s.guild(object{
		"vanity": "gophers", "memberCount": 48213, "xpGlobalMultiplier": 1.5,
		"multipliers": []object{
			{"type": "Channel", "multiplier": 2, "targets": []object{{"id": newID(), "name": "help", "parentId": nil, "position": 1, "type": 0}}},
			{"type": "Role", "multiplier": 1.25, "targets": []object{role("Booster")}},
		},
		"roleRewards": []object{
			{"level": 5, "roles": []object{role("Regular")}},
			{"level": 20, "stack": false, "roles": []object{role("Burrower"), role("Speaker")}},
			{"level": 50, "roles": []object{role("Elder of the Warren")}},
		},
		"timeZone": "Europe/Berlin", "periods": []string{"week", "month"},
		"seasons": []object{{"id": "winter-27", "name": "Winter Games of the Warren", "start": "2027-12-01", "end": "2028-03-01"}},
	})
	key := s.key(g)
	s.Do("PUT", "/v2/guilds/"+g+"/directory", key, object{
		"roles": []object{role("Digger"), role("Scout")}, "channels": []object{{"id": channel, "name": "general"}},
	}).Want(s.t, 204)
	names := []string{
		"gopherina", "Маша Иванова", "Łukasz Żak", "renée.dubois", "a_name_that_is_as_long_as_names_may_be_32", "linus", "Ada Lovelace", "مريم",
		"kit", "<b>bold</b>", "🦫 Bob", "wren", "otto", "sable", "juniper", "quill", "moss", "fern", "pip", "hazel", "ash", "rowan", "thistle", "bramble",
	}
	var messages []object
	for i := range 104 {
		name := names[i%len(names)]
		if i >= len(names) {
			name = fmt.Sprintf("%s%d", []string{"gopher", "badger", "vole"}[i%3], i)
		}
		u := s.member(key, g, name, 2400000/(i+1)/(1+i/9)+137*i%97)
		for range max(1, 40-2*i) {
			messages = append(messages, object{"userId": u, "channelId": channel})
		}
	}
	s.messages(key, g, messages...)
	return g
}
