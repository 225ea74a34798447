package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/testenv"
)

// hooked is a Discord that receives messages and keeps them.
type hooked struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func newHooked(t *testing.T) *hooked {
	h := &hooked{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasSuffix(r.URL.Path, "/gone") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		var message struct{ Content string }
		_ = json.Unmarshal(body, &message)
		h.got = append(h.got, r.Method+" "+message.Content)
		if r.URL.Query().Has("wait") {
			_, _ = w.Write([]byte(`{"id":"77"}`))
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(h.Close)
	return h
}

// wants waits for messages, in any order.
func (h *hooked) wants(t *testing.T, want ...string) {
	t.Helper()
	for _, one := range want {
		testenv.Wait(t, one+" is posted", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return slices.Contains(h.got, one)
		})
	}
}

// Announcements are set up by the operator, posted, tested and switched off and on, and nobody reads an address.
func TestAnnouncements(t *testing.T) {
	h := newHooked(t)
	s := start(t, append(onServers(t), often, "LEVELBOARD_ALLOWED_PRIVATE_HOSTS=127.0.0.1")...)
	g, u := s.guild(exactly(1000, object{"name": "Gophers", "announcements": []object{
		{"name": "levels", "kind": "discord", "url": h.URL + "/topsecret", "text": "{name} {level}{#roles}, {roles}{/roles}", "mention": false},
		{"name": "board", "kind": "board", "url": h.URL + "/topsecret", "top": 3},
		{"name": "old", "kind": "discord", "url": h.URL + "/gone"},
		{"name": "hook", "kind": "webhook", "url": h.URL + "/topsecret", "events": []string{"removed"}},
	}})), newID()
	key := s.key(g)
	document := s.admin("GET", "/guilds/"+g, nil).Want(t, 200)
	audited := s.admin("GET", "/guilds/"+g+"/audit", nil).Want(t, 200)
	if strings.Contains(string(document.Body)+string(audited.Body), "topsecret") || !strings.Contains(string(document.Body), h.URL+"/…") {
		t.Errorf("the settings show %s, the audit log %s", document.Body, audited.Body)
	}
	s.create(key, g, u, 100) // silent
	s.award(key, g, message(u, object{"user": object{"username": "ada", "discriminator": "0", "avatar": nil, "globalName": nil}}))
	h.wants(t, "POST ada 5", "POST **Gophers**\n1. ada: level 5 (1100 XP)")
	var states struct {
		Announcements []struct{ ID, State, Reason string }
	}
	read := func() {
		answer := s.admin("GET", "/guilds/"+g+"/announcements", nil).Want(t, 200)
		if err := json.Unmarshal(answer.Body, &states); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Wait(t, "one is switched off", func() bool {
		read()
		return len(states.Announcements) == 4 && states.Announcements[2].State == "off" && states.Announcements[2].Reason != ""
	})
	at := func(i int) string { return "/guilds/" + g + "/announcements/" + states.Announcements[i].ID }
	s.admin("POST", at(2)+"/on", nil).Want(t, 204)
	read()
	if states.Announcements[2].State != "on" || states.Announcements[0].State != "on" {
		t.Errorf("states %+v", states)
	}
	for i, want := range map[int]string{0: `{"status":204}`, 2: `{"status":404}`, 3: `{"status":204}`} {
		if got := s.admin("POST", at(i)+"/test", nil).Want(t, 200); string(got.Body) != want {
			t.Errorf("a test of announcement %d: %s, want %s", i, got.Body, want)
		}
	}
	if got := s.admin("POST", at(3)+"/secret", nil).Want(t, 201); !strings.Contains(string(got.Body), `"whsec_`) {
		t.Errorf("a secret: %s", got.Body)
	}
	s.admin("POST", at(0)+"/secret", nil).Want(t, 409)
	s.admin("POST", at(0)+"x/test", nil).Want(t, 404)
}

// A Redis that comes back empty loses the announcements that were not posted yet. No announcement is posted twice, and later level-ups are posted.
func TestAnnouncementsContinueAfterRedisIsLost(t *testing.T) {
	t.Parallel()
	h, server := newHooked(t), testenv.Redis(t)
	s := startSilent(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+postgrestest.URL(t), often, "LEVELBOARD_ALLOWED_PRIVATE_HOSTS=127.0.0.1")
	g := s.guild(exactly(1000, object{"announcements": []object{{"name": "levels", "kind": "discord", "url": h.URL, "text": "{name} {level}", "mention": false}}}))
	key := s.key(g)
	raise := func(name string) {
		said := message(newID(), object{"user": object{"username": name, "discriminator": "0", "avatar": nil, "globalName": nil}})
		s.award(key, g, said)
		h.wants(t, "POST "+name+" 5")
	}
	raise("ada")
	server.Kill()
	server.Start()
	testenv.Wait(t, "the service reaches Redis", func() bool { return s.Do("GET", boardPath(g, 1), "", nil).Status == 200 })
	raise("grace")
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.got) != 2 {
		t.Errorf("posted %q", h.got)
	}
}
