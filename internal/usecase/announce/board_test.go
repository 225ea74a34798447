package announce

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/fault"
	"levelboard/internal/platform/outbound"
)

// boards answers as Discord does: it makes messages, and edits those that it has.
func boards(n int, w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		_, _ = w.Write([]byte(`{"id":"` + strings.Repeat("4", n) + `"}`))
		return
	}
	if n == 3 {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"message":"Unknown Message","code":10008}`))
	}
}

// A board is one message. It is edited when what it shows has changed, at most once a minute, and posted again when somebody deleted it.
func TestABoard(t *testing.T) {
	t.Parallel()
	w, o, k := one(t, announcement.Board, boards)
	a, _ := w.run(1, o.trust)
	w.wait("the first message", func() bool { return w.state(k).Message == "4" })
	if c := o.calls()[0]; c.path != "/hook/topsecret?wait=true" || o.contents()[0] != "**Gophers**\n1. a\\_d\\_a: level 2 (150 XP)" || !strings.Contains(c.body, `"parse":[]`) {
		t.Errorf("sent %+v", c)
	}
	agoAMinute := func() { w.set(func() { s := w.states[k]; s.LastSent = time.Now().Add(-editEvery); w.states[k] = s }) }
	agoAMinute()
	a.Changed(gid)
	time.Sleep(2 * every)
	w.set(func() { w.gone[user] = true })
	a.Changed(gid)
	w.wait("an edit", func() bool { return len(o.calls()) == 2 && time.Since(w.state(k).LastSent) < editEvery })
	if c := o.calls()[1]; c.method != http.MethodPatch || c.path != "/hook/topsecret/messages/4" || !strings.Contains(o.contents()[1], "Nobody") {
		t.Errorf("then sent %+v", c)
	}
	w.set(func() { delete(w.gone, user) })
	a.Changed(gid)
	time.Sleep(2 * every)
	if n := len(o.calls()); n != 2 {
		t.Errorf("%d requests within a minute", n)
	}
	agoAMinute()
	a.Changed(gid)
	w.wait("a new message in place of the deleted one", func() bool { return w.state(k).Message == "4444" })
	if s := w.state(k); s.Off != "" || s.LastError != "" || len(o.calls()) != 4 {
		t.Errorf("state %+v after %d requests", s, len(o.calls()))
	}
}

// A test edits a board now, and posts a sample of all others, whatever their state.
func TestTests(t *testing.T) {
	t.Parallel()
	w, o := newWorld(t), newTarget(t, nil)
	o.answer = func(n int, w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "gone") {
			w.WriteHeader(http.StatusGone)
			return
		}
		_, _ = w.Write([]byte(`{"id":"77"}`))
	}
	w.announces(gid, hook(1, announcement.Discord, o.url), hook(2, announcement.Webhook, o.url), hook(3, announcement.Board, o.url),
		hook(4, announcement.Bot, ""), hook(5, announcement.Discord, o.url+"/gone"), hook(6, announcement.Discord, "https://10.0.0.1/topsecret"))
	k := func(n string) Key { return Key{gid, "hook-" + n} }
	w.set(func() { s := w.states[k("1")]; s.Off = "gone"; w.states[k("1")] = s })
	before := w.state(k("1"))
	a := New(Deps{Archive: w, Live: w, ByID: w.guild, Board: w, Trust: o.trust, Hosts: mustHosts("127.0.0.1")})
	for n, want := range map[string]int{"1": 200, "2": 200, "3": 200, "5": 410} {
		if tested, err := a.Test(t.Context(), k(n)); tested.Status != want || tested.Error != "" || (tested.Problem != "") != (want == 410) || err != nil {
			t.Errorf("announcement %s: %+v, %v", n, tested, err)
		}
	}
	if tested, err := a.Test(t.Context(), k("6")); !strings.Contains(tested.Error, "private") || strings.Contains(tested.Error, "topsecret") || err != nil {
		t.Errorf("a private address: %+v, %v", tested, err)
	}
	for n, code := range map[string]fault.Code{"4": fault.Conflict, "9": fault.NotFound} {
		if _, err := a.Test(t.Context(), k(n)); !fault.Is(err, code) {
			t.Errorf("announcement %s can be tested: %v", n, err)
		}
	}
	if s := w.state(k("3")); s.Message != "77" || !s.LastSent.IsZero() {
		t.Errorf("the board's state is %+v", s)
	}
	if after := w.state(k("1")); after.Off != before.Off || after.Cursor != before.Cursor || w.notes > 0 {
		t.Errorf("state %+v, before %+v", after, before)
	}
	if secret, err := a.NewSecret(t.Context(), k("2")); err != nil || !strings.HasPrefix(secret, "whsec_") || len(w.state(k("2")).Secret) != 32 {
		t.Errorf("a secret: %q, %v", secret, err)
	}
	if _, err := a.NewSecret(t.Context(), k("1")); err == nil {
		t.Error("messages of Discord have a secret")
	}
}

func mustHosts(list ...string) outbound.Hosts {
	hosts, _ := outbound.ParseHosts(list)
	return hosts
}
