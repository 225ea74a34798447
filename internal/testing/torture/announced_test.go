package torture

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

const (
	announcedGuild = "100000000000000004"
	announcedUser  = "600000000000000000"
)

// webhook is a real TLS server that receives posts.
type webhook struct {
	*httptest.Server
	trust string // the file of its certificate's authority

	mu     sync.Mutex
	posted []int64 // the XP of each level-up, without direct repeats
	lastID string
}

func newWebhook(t *testing.T) *webhook {
	ca := testenv.NewCA(t)
	pair := ca.Loopback()
	certificate, err := tls.LoadX509KeyPair(pair.CertFile, pair.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	w := &webhook{trust: ca.File()}
	w.Server = httptest.NewUnstartedServer(w)
	w.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	w.StartTLS()
	t.Cleanup(w.Close)
	return w
}

// ServeHTTP is slow, so that replicas are also killed during a post, and between it and its note.
func (w *webhook) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var body struct{ Data struct{ XP int64 } }
	err := json.NewDecoder(r.Body).Decode(&body)
	time.Sleep(5 * time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	if posted := r.Header.Get("webhook-id"); err == nil && posted != w.lastID {
		w.lastID, w.posted = posted, append(w.posted, body.Data.XP)
	}
	time.Sleep(5 * time.Millisecond)
}

func (w *webhook) got() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.posted)
}

// announced is a guild whose level-ups are posted to a webhook. Each must be posted, in order, whichever process is killed.
type announced struct {
	*client
	hook *webhook
	made []int64 // the XP of each level-up
}

func newAnnounced(h *harness) *announced {
	a := &announced{client: &client{h: h, name: "announced", rng: h.stream(announcedStream)}, hook: h.hook}
	document := h.guildDocument("Announced", false)
	document["announcements"] = []map[string]any{{"name": "all", "kind": "webhook", "url": h.hook.URL + "/hook", "events": []string{"levelup"}}}
	h.must("PUT", "/admin/guilds/"+announcedGuild, document)
	h.must("PUT", "/admin/keys/"+h.keyID+"/guilds/"+announcedGuild, nil)
	_, body := change{op: create, name: "announced"}.request(announcedUser)
	h.must("POST", memberPath(announcedGuild, announcedUser), body)
	return a
}

// run moves the member up and down again. Each level-up has another XP.
func (a *announced) run() {
	for xp := int64(1000); a.h.running(); xp++ {
		if !a.set(0) {
			return
		}
		a.made = append(a.made, xp) // may be posted from now on
		if !a.set(xp) {
			return
		}
		a.h.pause(between(a.rng, 0, 150))
	}
}

// set repeats a change until it is answered.
func (a *announced) set(xp int64) bool {
	key := a.newKey()
	for attempt := 1; ; attempt++ {
		answer := a.h.call(a.replica(), http.MethodPatch, memberPath(announcedGuild, announcedUser), key, map[string]any{"xp": xp})
		switch answer.verdict {
		case done:
			return true
		case unknown, unsent:
			a.failover()
		default:
			a.h.violation(nil, "a change of the announced member was answered with "+answer.text)
			return false
		}
		if !a.h.again(attempt) {
			a.h.violation(nil, fmt.Sprintf("a change of the announced member was not answered within %v of the last fault", patience))
			return false
		}
	}
}

// check waits for the last post.
func (a *announced) check() {
	a.h.until(nil, func() bool { return len(a.hook.got()) >= len(a.made) }, "the webhook")
	if got := a.hook.got(); !slices.Equal(got, a.made) {
		a.h.violation(nil, fmt.Sprintf("%d level-ups were made, and %d posted: %v, %v", len(a.made), len(got), a.made, got))
	}
	a.h.t.Logf("%d level-ups were posted", len(a.made))
}
