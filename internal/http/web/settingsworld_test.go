package web_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/sqlite"
	"levelboard/internal/testing/sqlitetest"
	"levelboard/internal/usecase/guilds"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
)

// everySetting sets everything to another value than the default, with names that are hard to show in a line.
const everySetting = `{"id":"200000000000000001","name":"Gophers <i>& \"co\"","icon":"a_0123456789abcdef0123456789abcdef","memberCount":4242,
"ownerId":"900000000000000001","adminIds":["900000000000000002"],"enabled":false,"visibility":"private","embedding":true,"vanity":"gophers","curve":[0.1,10.5,2],
"xpGainInterval":12345,"xpPerMessageMin":1,"xpPerMessageMax":999,"xpGlobalMultiplier":0.1,"ignoredChannelIds":["300000000000000001","300000000000000002"],
"ignoredRoleIds":["400000000000000001"],"ignoredUserIds":["500000000000000001"],"multipliers":[
{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","type":"Channel","multiplier":2.5,"targets":[{"id":"300000000000000003","name":" two\nlines  and </textarea><script>alert(1)</script>","parentId":"300000000000000009","position":3,"type":5},{"id":"300000000000000004","name":"x","parentId":null,"position":0,"type":0}]},
{"id":"6ba7b811-9dad-41d1-80b4-00c04fd430c8","type":"Role","multiplier":0,"targets":[{"id":"400000000000000002","name":"\"onload=alert(2)","color":255,"position":1}]}],
"roleRewards":[
{"id":"6ba7b812-9dad-41d1-80b4-00c04fd430c8","level":0,"stack":false,"roles":[]},
{"id":"6ba7b813-9dad-41d1-80b4-00c04fd430c8","level":10,"stack":true,"roles":[{"id":"400000000000000002","name":"another name","color":null,"position":7},{"id":"400000000000000003","name":"\t","color":16777215,"position":2}]}],
"timeZone":"Europe/Berlin","periods":["month","day"],"seasons":[{"id":"spring","name":"Spring","start":"2027-03-01","end":"2027-06-01"},{"id":"winter","name":"Winter","start":"2026-12-01","end":"2027-03-01"}],"auditIncrementsFrom":77,"announcements":[]}`

// settingsWorld is a site with a real archive for settings and a real Redis for members.
type settingsWorld struct {
	*site
	archive   *sqlite.Archive
	cache     *guild.Cache
	board     *leaderboard.Leaderboard
	announced []string
}

// Announce updates this replica as the service's does.
func (w *settingsWorld) Announce(_ context.Context, kind changes.Kind, subject string) {
	w.announced = append(w.announced, string(kind)+" "+subject)
	w.cache.Changed(id.Guild(subject))
}

func newSettingsWorld(t *testing.T) *settingsWorld {
	t.Helper()
	return newSettingsWorldWith(t, func(*settingsWorld, *site, *redisstore.Store, *hydrate.Hydrator) {})
}

// newSettingsWorldWith changes what the pages are built on.
func newSettingsWorldWith(t *testing.T, with func(w *settingsWorld, s *site, live *redisstore.Store, hydrator *hydrate.Hydrator)) *settingsWorld {
	t.Helper()
	w := &settingsWorld{}
	w.site = newSite(t, options{with: func(s *site, live *redisstore.Store) {
		w.archive = sqlitetest.Open(t)
		w.cache = guild.NewCache(w.archive, 100)
		hydrator := hydrate.New(live, w.archive, slog.New(slog.DiscardHandler))
		t.Cleanup(hydrator.Close)
		w.board = leaderboard.New(live, hydrator, w.cache, leaderboard.Options{})
		s.deps.Guilds = w.cache
		s.deps.Settings = guilds.New(w.archive, w.board, w)
		with(w, s, live, hydrator)
	}})
	w.put(public, everySetting)
	w.put(closed, `{"name":"Moles","memberCount":5,"ownerId":"900000000000000001","vanity":"moles"}`)
	return w
}

// put writes a document as the operator does.
func (w *settingsWorld) put(g id.Guild, document string) {
	w.t.Helper()
	s, err := guild.Parse(g, []byte(document))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := w.archive.PutGuild(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
	w.cache.Changed(g)
}

// saved returns the guild's archived document.
func (w *settingsWorld) saved() string {
	w.t.Helper()
	g, err := w.archive.Guild(w.t.Context(), public)
	if err != nil {
		w.t.Fatal(err)
	}
	document, err := guild.Marshal(g.Settings)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(document)
}

// members puts members on the board, the one with the most XP first.
func (w *settingsWorld) members(xp ...level.XP) {
	w.t.Helper()
	g, err := w.cache.ByID(w.t.Context(), public)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, x := range xp {
		name := fmt.Sprintf("<b>member %d</b>", i)
		c := leaderboard.Creation{XP: x, User: leaderboard.User{Username: name}}
		if _, err := w.board.Create(w.t.Context(), g, id.User(fmt.Sprintf("5%017d", i)), c); err != nil {
			w.t.Fatal(err)
		}
	}
}

const settingsAddress = "/guilds/" + string(public) + "/settings"

// manager returns a signed-in browser at the settings.
func (w *settingsWorld) manager() *browser {
	b := w.browser()
	b.get("/sign-in/provider?next="+settingsAddress).want(200, "Settings of")
	return b
}

// form returns the fields of the settings form as a browser would send them.
func (p page) form() url.Values {
	p.t.Helper()
	root, err := html.Parse(strings.NewReader(p.text))
	if err != nil {
		p.t.Fatal(err)
	}
	values := url.Values{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		a := map[string]string{}
		for _, attribute := range n.Attr {
			a[attribute.Key] = attribute.Val
		}
		_, checked := a["checked"]
		switch {
		case a["name"] == "" || n.Data == "button" || a["name"] == "viewport" || a["name"] == "color-scheme":
		case n.Data == "textarea":
			values.Set(a["name"], textOf(n))
		case n.Data == "select":
			for o := range n.Descendants() {
				value, selected := attributeOf(o, "value")
				if selected || o.Data == "option" && !values.Has(a["name"]) {
					values.Set(a["name"], value)
				}
			}
		case a["type"] == "checkbox" || a["type"] == "radio":
			if checked {
				values.Set(a["name"], a["value"])
			}
		default:
			values.Set(a["name"], a["value"])
		}
	}
	return values
}

func textOf(n *html.Node) string {
	if n.FirstChild == nil {
		return ""
	}
	return n.FirstChild.Data
}

func attributeOf(n *html.Node, name string) (value string, selected bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			value = a.Val
		}
		selected = selected || a.Key == "selected"
	}
	return value, selected
}

// with returns the form with changed fields; the value "-" unchecks.
func with(form url.Values, change ...string) url.Values {
	changed := url.Values{}
	for name := range form {
		changed.Set(name, form.Get(name))
	}
	for i := 0; i+1 < len(change); i += 2 {
		if change[i+1] == "-" {
			changed.Del(change[i])
		} else {
			changed.Set(change[i], change[i+1])
		}
	}
	return changed
}
