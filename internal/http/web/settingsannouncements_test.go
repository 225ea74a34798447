package web_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/outbound"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/lease"
)

// announcementsWorld is a settings world whose announcements go to a webhook.
type announcementsWorld struct {
	*settingsWorld
	webhook string // its address; one that ends in /gone is not there

	mu  sync.Mutex
	got []string // bodies
}

func newAnnouncementsWorld(t *testing.T) *announcementsWorld {
	w := &announcementsWorld{}
	target := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.got = append(w.got, string(body))
		if strings.HasSuffix(r.URL.Path, "/gone") {
			rw.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(target.Close)
	w.webhook = target.URL + "/topsecret"
	hosts, _ := outbound.ParseHosts([]string{"127.0.0.1"})
	w.settingsWorld = newSettingsWorldWith(t, func(in *settingsWorld, s *site, live *redisstore.Store, _ *hydrate.Hydrator) {
		s.deps.Announcements = announce.New(announce.Deps{
			Archive: in.archive, Live: live, ByID: in.cache.ByID, Board: in.board, Hosts: hosts, Log: slog.New(slog.DiscardHandler),
			Trust: &tls.Config{RootCAs: target.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs},
			Lease: func() (lease.Lease, bool) { return lease.Lease{}, false },
		})
	})
	return w
}

// all are the announcements as they are archived.
func (w *announcementsWorld) all() []announcement.Announcement {
	w.t.Helper()
	g, err := w.archive.Guild(w.t.Context(), public)
	if err != nil {
		w.t.Fatal(err)
	}
	return g.Announcements
}

// added is the form with a new announcement of a kind, whose fields are changed by pairs of a property and a value.
func (w *announcementsWorld) added(b *browser, kind string, change ...string) url.Values {
	w.t.Helper()
	form := b.post(settingsAddress, with(b.get(settingsAddress).form(), "do", "add-announcement "+kind)).want(200, "New announcement").form()
	return with(form, at(len(w.all()), append([]string{"name", "general", "url", w.webhook}, change...)...)...)
}

// at are the fields of a row for pairs of a property and a value.
func at(row int, change ...string) []string {
	for i := 0; i < len(change); i += 2 {
		change[i] = fmt.Sprintf("announcements[%d].%s", row, change[i])
	}
	return change
}

// made saves an announcement and returns its id.
func (w *announcementsWorld) made(b *browser, kind string, change ...string) string {
	w.t.Helper()
	form := w.added(b, kind, change...)
	if kind == "bot" {
		form.Del(at(len(w.all()), "url", "")[0])
	}
	b.post(settingsAddress, with(form, "do", "save")).want(200, "Saved.")
	all := w.all()
	return all[len(all)-1].ID
}

// press presses a button of an announcement.
func press(b *browser, do, announcement string) page {
	return b.post(settingsAddress, with(b.get(settingsAddress).form(), "do", do+" "+announcement))
}

func TestAManagerAddsEditsAndDeletesAnAnnouncement(t *testing.T) {
	w := newAnnouncementsWorld(t)
	b := w.manager()
	b.get(settingsAddress).want(200, "Nothing is announced yet", "add-announcement board")
	form := with(w.added(b, "discord", "text", "{name} is <b>{level}</b>\r\n!", "levels", "5, 10", "mention", "-"), "do", "save")
	for range 2 { // a double click
		b.post(settingsAddress, form).want(200, "Saved.", "general", "nothing posted yet", "/…").lacks("topsecret")
	}
	a := w.all()[0]
	if len(w.all()) != 1 || string(a.URL) != w.webhook || *a.Text != "{name} is <b>{level}</b>\n!" || a.Mention || !slices.Equal(a.Levels, []level.Level{5, 10}) {
		t.Fatalf("saved %#v", w.all())
	}

	old := b.get(settingsAddress).want(200, "/…", "&lt;b&gt;{level}").lacks("topsecret").form()
	form = with(old, append(at(0, "events[period]", "-", "from", "7", "text", "", "url", w.webhook+"/2"), "do", "save")...)
	for range 2 {
		b.post(settingsAddress, form).want(200, "Saved.")
	}
	if a = w.all()[0]; string(a.URL) != w.webhook+"/2" || a.Text != nil || a.From != 7 || a.Kind != announcement.Discord || !slices.Equal(a.Events, []announcement.Event{announcement.LevelUp}) {
		t.Errorf("saved %#v", a)
	}
	seen := b.post(settingsAddress, with(old, append(at(0, "from", "1,008"), "do", "save")...)).want(409, "changed while you were editing", `value="1,008"`, "from level: 7;", "from level: 1008;").lacks("topsecret/2").form()
	b.post(settingsAddress, with(seen, "do", "save")).want(200, "Saved.")
	if a = w.all()[0]; a.From != 1008 || string(a.URL) != w.webhook+"/2" {
		t.Errorf("saved %#v", a)
	}

	// A change of something else leaves them as they are, with their addresses; a new address is saved also when somebody else has saved meanwhile.
	old = b.get(settingsAddress).form()
	b.post(settingsAddress, with(old, "vanity", "diggers", "do", "save")).want(200, "Saved.")
	if now := w.all(); !slices.EqualFunc(now, []announcement.Announcement{a}, func(a, b announcement.Announcement) bool { return a.URL == b.URL && a.From == b.From }) {
		t.Errorf("another setting left %#v", now)
	}
	b.post(settingsAddress, with(old, append(at(0, "url", w.webhook+"/3"), "do", "save")...)).want(200, "Saved.")
	if a = w.all()[0]; string(a.URL) != w.webhook+"/3" {
		t.Errorf("saved %#v", a)
	}
	form = with(b.post(settingsAddress, with(b.get(settingsAddress).form(), "do", "remove-announcement 0")).want(200).form(), "do", "save")
	for range 2 {
		b.post(settingsAddress, form).want(200, "Saved.", "Nothing is announced yet")
	}
	if logged := w.audited(); strings.Contains(w.log.String()+logged, "topsecret") || strings.Count(logged, "announcements") < 6 || !strings.Contains(logged, ada) {
		t.Errorf("the logs show an address, or nothing: %s", logged)
	}
}

// audited is the audit log of the guild.
func (w *announcementsWorld) audited() string {
	w.t.Helper()
	records, err := w.archive.ReadAudit(w.t.Context(), public, audit.Query{Limit: 100}, func(guild.Incarnation, time.Time) (newest time.Time, err error) { return newest, nil })
	if err != nil {
		w.t.Fatal(err)
	}
	text := ""
	for _, r := range records {
		text += fmt.Sprintf("%s: %s -> %s\n", r.By.Actor.ID, r.Before, r.After)
	}
	return text
}

func TestErrorsStandAtTheFieldsOfAnAnnouncement(t *testing.T) {
	w := newAnnouncementsWorld(t)
	b := w.manager()
	w.made(b, "discord", "name", "the first one")
	for _, c := range []struct{ kind, field, value, want string }{
		{"discord", "name", "", "Must have 1 to"}, {"discord", "url", "ftp://x", "begins with https://"}, {"discord", "url", "http://hooks.example/x", "LEVELBOARD_ALLOWED_PRIVATE_HOSTS"},
		{"discord", "url", "", "webhook&#39;s address"}, {"discord", "url", "https://elsewhere.example/…", "none is stored"}, {"discord", "text", "a {nobody}", "character 3"},
		{"discord", "from", "x", "whole number"}, {"discord", "every", "0", "1 to 10000"}, {"discord", "levels", "5, 5", "Entry 2: repeats level 5"},
		{"discord", "events", "", "at least one event"}, {"board", "top", "2", "3 to 25"}, {"board", "period", "year", "day, week"}, {"webhook", "url", "https://a@b.example", "no user"},
	} {
		form := w.added(b, c.kind, c.field, c.value)
		if c.field == "events" {
			form = with(form, at(1, "events[levelup]", "-", "events[period]", "-")...)
		}
		for _, do := range []string{"save", "check"} {
			if do == "check" && c.field == "url" {
				continue // some addresses are judged when they are saved
			}
			b.post(settingsAddress, with(form, "do", do)).want(422, c.want, `id="f-announcements-1--`+c.field+`-error"`, `<a href="#f-announcements-1--`+c.field+`">Announcement 2, `)
		}
	}
	b.post(settingsAddress, with(b.get(settingsAddress).form(), append(at(0, "url", "https://elsewhere.example/…"), "do", "save")...)).
		want(422, `id="f-announcements-0--url-error"`).lacks("topsecret")
	for range 9 {
		w.made(b, "bot")
	}
	b.post(settingsAddress, with(w.added(b, "discord"), "do", "save")).want(422, "Nothing was changed", "at most 10")
	if len(w.all()) != 10 {
		t.Errorf("%d announcements", len(w.all()))
	}
}

func TestAManagerPreviewsAndTestsAnAnnouncement(t *testing.T) {
	w := newAnnouncementsWorld(t)
	w.members(500)
	b := w.manager()
	preview := func(kind string, change ...string) page {
		return b.post(settingsAddress, with(w.added(b, kind, change...), "do", "check"))
	}
	preview("discord", "text", "<i>{name}</i> {level}").want(200, "Not saved yet", "&lt;i&gt;Ada&lt;/i&gt; 1")
	preview("discord", "text", "{#level.9}x{/level.9}").want(200, "comes out empty")
	preview("bot", "url", "-", "events[levelup]", "-").want(200, "2026-W48 is over.")
	preview("board").want(200, `1. \&lt;b\&gt;member 0`, "500 XP")
	preview("webhook").want(200, "&#34;type&#34;:&#34;levelup&#34;")
	if len(w.all()) != 0 || len(w.got) != 0 {
		t.Errorf("a preview saved %v, posted %q", w.all(), w.got)
	}

	typed := with(b.get(settingsAddress).form(), "do", "test "+w.made(b, "discord", "name", "<i>"), "vanity", "not saved yet")
	b.post(settingsAddress, typed).want(200, "The test was posted.", "&lt;i&gt;", "not saved yet")
	press(b, "test", w.made(b, "discord", "url", w.webhook+"/gone")).want(200, "failed. The webhook answered 404 Not Found.").lacks("topsecret")
	press(b, "test", w.made(b, "discord", "url", "https://10.0.0.1/topsecret")).want(200, "its address is private").lacks("topsecret")
	press(b, "test", w.made(b, "bot")).want(409)
	press(b, "test", "x").want(404)
	if len(w.got) != 2 {
		t.Errorf("the tests posted %q", w.got)
	}
}

// A secret is shown once, on a page that nobody keeps and whose size says nothing of it, as that of an address that was typed.
func TestAManagerMakesASigningSecret(t *testing.T) {
	w := newAnnouncementsWorld(t)
	b := w.manager()
	webhook := w.made(b, "webhook")
	form := with(b.get(settingsAddress).form(), at(0, "url", "https://hooks.example/typed")...)
	for do, want := range map[string]string{"secret " + webhook: ">whsec_", "check": "hooks.example/typed"} {
		made := b.post(settingsAddress, with(form, "do", do), "Accept-Encoding", "gzip").want(200, want)
		if made.header.Get("Content-Encoding") != "" || made.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the page of a secret: %v", made.header)
		}
	}
	b.get(settingsAddress).want(200).lacks("whsec_")
	press(b, "secret", w.made(b, "discord")).want(409, "Only announcements of the kind webhook")
}

func TestAManagerSeesWhyAnAnnouncementIsOffAndSwitchesItOn(t *testing.T) {
	w := newAnnouncementsWorld(t)
	b := w.manager()
	made := w.made(b, "discord")
	states, err := w.archive.AnnouncementStates(t.Context(), []id.Guild{public})
	if err != nil {
		t.Fatal(err)
	}
	l, err := w.archive.AcquireLease(t.Context(), "x", time.Minute, false)
	s := states[0]
	s.Off, s.LastError, s.LastSent = "The webhook answered 410 Gone.", "The webhook answered 410 Gone.", time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	if err = errors.Join(err, w.archive.NoteAnnouncement(t.Context(), l, s)); err != nil {
		t.Fatal(err)
	}
	b.get(settingsAddress).want(200, ">Off<", "Switched off: The webhook answered 410 Gone.", "last posted", "2026-11-20 08:30")
	for range 2 {
		press(b, "on", made).want(200, "Switched on.").lacks(">Off<", `value="on `)
	}
}

func TestOnlyManagersUseAnnouncements(t *testing.T) {
	w := newAnnouncementsWorld(t)
	one := w.made(w.manager(), "webhook")
	w.provider.SetUser(map[string]any{"id": ada, "username": "ada", "global_name": "Ada L."}, []any{})
	in, out := w.browser(), w.browser()
	in.get("/sign-in/provider?next=/").want(200, "Ada L.")
	for _, do := range []string{"save", "check", "test " + one, "secret " + one, "on " + one, "remove-announcement 0"} {
		in.post(settingsAddress, url.Values{"do": {do}}).want(403)
		out.post(settingsAddress, url.Values{"do": {do}}).want(401)
		in.post(settingsAddress, url.Values{"do": {do}}, "Origin", "https://evil.example").want(403, "another site")
	}
	if len(w.all()) != 1 || len(w.got) != 0 {
		t.Errorf("somebody else changed %v, posted %q", w.all(), w.got)
	}
}
