package announce

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/events"
)

// one is a world in which one guild announces to one target.
func one(t *testing.T, kind announcement.Kind, answer func(n int, w http.ResponseWriter, r *http.Request)) (*world, *target, Key) {
	w, o := newWorld(t), newTarget(t, answer)
	w.announces(gid, hook(1, kind, o.url))
	return w, o, Key{gid, "hook-1"}
}

// posted waits until a target got messages with these contents, and what was noted last is a success.
func (w *world) posted(o *target, k Key, want ...string) {
	w.t.Helper()
	w.wait("post "+strings.Join(want, ", "), func() bool {
		s := w.state(k)
		return len(o.calls()) >= len(want) && s.LastError == "" && !s.LastSent.IsZero()
	})
	if got := o.contents(); !slices.Equal(got, want) {
		w.t.Errorf("got %q, want %q", got, want)
	}
}

// A message says what its event is, in the announcement's words, and mentions only the members that it is about. A burst is one message, or as many as
// ten each, and 2,000 characters, need. Silent events are not announced.
func TestMessages(t *testing.T) {
	const away id.User = "200000000000000002"
	const nobody = `{"allowed_mentions":{"parse":[],"users":[]},`
	winners := `{"id":"season-x","kind":"season","name":"Winter","members":2,"winners":[` +
		`{"rank":1,"userId":"` + string(user) + `","gained":5},{"rank":2,"userId":"` + string(away) + `","gained":4}]}`
	old, bulk, absent, hidden := raised(1, 2), raised(1, 2), raised(2, 3), raised(3, 4)
	old.ID.Millis, bulk.Silent, absent.User, hidden.Hidden = uint64(time.Now().Add(-oldest-time.Minute).UnixMilli()), true, away, true
	long := strings.Repeat("é", 998)
	for name, c := range map[string]struct {
		text   string
		change func(a *announcement.Announcement)
		events []events.Entry
		want   []string
		body   string // of the first, at its beginning
	}{
		"one": {"{level}", nil, []events.Entry{raised(4, 5)}, []string{"5"}, `{"allowed_mentions":{"parse":[],"users":[]},"content":"5"}`},
		"a burst": {
			"{level}", nil, upTo(13), []string{"1\n2\n3\n4\n5\n6\n7\n8\n9\n10", "11\n12\n13"}, nobody,
		},
		"a long burst": {
			long + "{level}", nil, upTo(11)[7:], []string{long + "8\n" + long + "9", long + "10", long + "11"}, nobody,
		},
		"what is silent": {
			"{level}", nil, []events.Entry{
				old, bulk, absent, hidden, raised(9, 8), {Reset: events.Imported}, {User: user, Moved: events.Removed},
				{Period: `{"id":"2026-W48","kind":"week","members":0,"winners":[]}`}, raised(3, 4),
			}, []string{"4"}, nobody,
		},
		"mentions": {
			"@everyone {user} {rank} {guild}", func(a *announcement.Announcement) { a.Mention = true }, []events.Entry{raised(1, 2), raised(2, 3)},
			[]string{"@everyone <@200000000000000001> 3 Gophers\n@everyone <@200000000000000001> 3 Gophers"}, `{"allowed_mentions":{"parse":[],"users":["200000000000000001"]},`,
		},
		"winners": {"{period}: {first}{^second}, no second{/second}", nil, []events.Entry{{Period: winners}}, []string{"Winter: ada, no second"}, nobody},
		"roles, each once, of rewards in the jump": {
			"{level}: {roles}", func(a *announcement.Announcement) { a.OnlyWithRoles = true }, []events.Entry{raised(0, 1), raised(5, 6), raised(1, 5)},
			[]string{"5: Regular, Old"}, nobody,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, o, k := one(t, announcement.Discord, nil)
			w.gone[away] = true
			g := w.guilds[gid]
			if g.Announcements[0].Text = &c.text; c.change != nil {
				c.change(&g.Announcements[0])
			}
			regular, former := guild.Role{ID: "1", Name: "Regular"}, guild.Role{ID: "2", Name: "Old"}
			g.RoleRewards = []guild.RoleReward{
				{Level: 0, Roles: []guild.Role{{ID: "3", Name: "New"}}}, {Level: 2, Roles: []guild.Role{regular}}, {Level: 5, Roles: []guild.Role{regular, former}}, {Level: 6},
			}
			s := w.states[k]
			s.Cursor.Millis = 1
			w.states[k] = s
			var last events.ID
			for _, e := range c.events {
				last = w.happens(gid, e)
			}
			w.run(1, o.trust)
			w.posted(o, k, c.want...)
			if call := o.calls()[0]; call.method != http.MethodPost || call.path != "/hook/topsecret" || !strings.HasPrefix(call.body, c.body) ||
				call.header.Get("Content-Type") != "application/json" {
				t.Errorf("sent %+v", call)
			}
			if s := w.state(k); s.Cursor != last {
				t.Errorf("the cursor is at %v, want %v", s.Cursor, last)
			}
		})
	}
}

// upTo are level-ups by one from level 0.
func upTo(last level.Level) (list []events.Entry) {
	for l := range last {
		list = append(list, raised(l, l+1))
	}
	return list
}

// A webhook gets each event that it is for, signed, silent ones too, and the same id at each try.
func TestASignedWebhook(t *testing.T) {
	t.Parallel()
	w, o := newWorld(t), newTarget(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	a := hook(1, announcement.Webhook, o.url)
	a.Events = []announcement.Event{announcement.LevelUp, announcement.Removed, announcement.Reset}
	w.announces(gid, a)
	first := w.happens(gid, events.Entry{User: user, Before: 0, After: xpOf(2), Channel: "300000000000000001", Silent: true})
	w.happens(gid, events.Entry{User: user, Moved: events.Returned, After: xpOf(2)})
	w.happens(gid, events.Entry{User: user, Moved: events.Removed})
	w.happens(gid, events.Entry{Reset: events.Cleared})
	w.run(1, o.trust)
	w.wait("three posts", func() bool { return len(o.calls()) == 4 && w.state(Key{gid, a.ID}).LastError == "" })
	signer, err := standardwebhooks.NewWebhookRaw([]byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	ids, types := map[string]int{}, []string{}
	for _, c := range o.calls() {
		if err := signer.Verify([]byte(c.body), c.header); err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
		ids[c.header.Get("webhook-id")]++
		var body struct {
			Type      string
			Timestamp time.Time
			Data      map[string]any
		}
		if err := json.Unmarshal([]byte(c.body), &body); err != nil || body.Data["guildId"] != string(gid) || time.Since(body.Timestamp) > time.Hour {
			t.Errorf("%s: %v", c.body, err)
		}
		types = append(types, body.Type)
	}
	if ids["msg_hook-1_"+first.String()] != 2 || len(ids) != 3 || !slices.Equal(types, []string{"levelup", "levelup", "removed", "reset"}) {
		t.Errorf("ids %v, types %v", ids, types)
	}
	const want = `"data":{"guildId":"100000000000000001","userId":"200000000000000001","level":2,"previousLevel":0,"xp":150,"addRoles":[],"removeRoles":[],"channelId":"300000000000000001","silent":true}}`
	if body := o.calls()[0].body; !strings.HasSuffix(body, want) {
		t.Errorf("body %s, want %s at its end", body, want)
	}
}

// What becomes of a message by what its host answers: 5xx is tried five times, 429 is obeyed and is no try, another 4xx and 3xx drop the message, and
// what says that the webhook is gone switches the announcement off. The next message is tried in any case.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		status       int
		header, body string
		times        int           // how often it is answered so
		wait         time.Duration // between two of them
		taken, off   bool          // in the end
	}{
		"500 once": {500, "", "", 1, every, true, false}, "500": {500, "", "", mostTries, every, false, false},
		"401": {401, "", "", 1, 0, false, true}, "403": {403, "", "", 1, 0, false, true}, "404": {404, "", "", 1, 0, false, true}, "410": {410, "", "", 1, 0, false, true},
		"400": {400, "", "", 1, 0, false, false}, "413": {413, "", "", 1, 0, false, false}, "302": {302, "", "", 1, 0, false, false},
		"429 with seconds in the header":           {429, "1", "", 6, time.Second, true, false},
		"429 with seconds with a fraction":         {429, "", `{"retry_after":0.35,"global":false}`, 6, 350 * time.Millisecond, true, false},
		"429 with a more exact body":               {429, "1", `{"retry_after":0.4}`, 6, 400 * time.Millisecond, true, false},
		"429 with milliseconds":                    {429, "1", `{"retry_after":700}`, 6, 700 * time.Millisecond, true, false},
		"429 with milliseconds without the header": {429, "", `{"retry_after":1200}`, 6, 1200 * time.Millisecond, true, false},
		"429 with no time":                         {429, "0", "", 6, every, true, false},
		"429 alone":                                {429, "", "no JSON", 6, every, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, o, k := one(t, announcement.Discord, func(n int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "https://elsewhere.example/topsecret")
				if n > c.times {
					return
				}
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			w.levelUp(gid, 2)
			a, _ := w.run(1, o.trust)
			w.wait("the answers", func() bool {
				s := w.state(k)
				return len(o.calls()) >= c.times && s.LastError+s.Off != "" || !s.LastSent.IsZero()
			})
			if s := w.state(k); s.LastSent.IsZero() && !strings.Contains(s.LastError, fmt.Sprint(c.status)) || strings.Contains(s.LastError+s.Off, "topsecret") {
				t.Errorf("state %+v", s)
			}
			if c.off { // what happens meanwhile, and what switched it off, is not announced
				w.wait("it is off", func() bool { return w.state(k).Off != "" })
				w.levelUp(gid, 3)
				a.Changed(gid)
				time.Sleep(2 * every)
				if err := a.SwitchOn(t.Context(), k); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Millisecond)
			}
			want := slices.Repeat([]string{"2"}, c.times)
			if c.taken {
				want = append(want, "2")
				w.posted(o, k, want...)
			}
			w.levelUp(gid, 4)
			w.posted(o, k, append(want, "4")...)
			calls := o.calls()
			for i := 1; i < c.times; i++ {
				if waited := calls[i].at.Sub(calls[i-1].at); waited < c.wait || waited > c.wait<<i+10*time.Second {
					t.Errorf("before try %d it waited %v, want %v", i+1, waited, c.wait)
				}
			}
		})
	}
}

// Targets that hang or trickle delay nobody else, on the same host either.
func TestSlowTargetsDelayNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := newTarget(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		for strings.Contains(r.URL.Path, "slow") && r.Context().Err() == nil {
			if strings.Contains(r.URL.Path, "trickle") {
				_, _ = w.Write([]byte("x"))
				_ = http.NewResponseController(w).Flush()
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	var dead []announcement.Announcement
	for n := range 10 {
		dead = append(dead, hook(n, announcement.Discord, o.url+[]string{"/slow", "/slow/trickle"}[n%2]))
	}
	w.announces("100000000000000002", dead...)
	w.announces(gid, hook(1, announcement.Discord, o.url))
	began := time.Now()
	w.levelUp("100000000000000002", 2)
	w.run(1, o.trust)
	w.wait("the slow ones are posted to", func() bool { return len(o.calls()) == 10 })
	w.levelUp(gid, 2)
	w.wait("the other one", func() bool { return !w.state(Key{gid, "hook-1"}).LastSent.IsZero() })
	if took := time.Since(began); took > 30*time.Second { // one after the other they have 50
		t.Errorf("it took %v", took)
	}
	w.wait("a failure is noted", func() bool { return strings.Contains(w.state(Key{"100000000000000002", "hook-1"}).LastError, "5s") })
}

// Wherever a replica is killed, what happened is posted at least once, in order, by the next one.
func TestKills(t *testing.T) {
	t.Parallel()
	w, o, k := one(t, announcement.Webhook, func(_ int, w http.ResponseWriter, _ *http.Request) { time.Sleep(3 * time.Millisecond) })
	var want []string
	for l := range level.Level(100) {
		want = append(want, "msg_hook-1_"+w.levelUp(gid, l+1).String())
	}
	done := func() bool { return "msg_hook-1_"+w.state(k).Cursor.String() == want[99] }
	for i := 0; !done(); i++ {
		posted := len(o.calls())
		w.set(func() { w.fence++ })
		a, kill := w.run(w.fence, o.trust)
		a.Changed(gid)
		w.wait("a post", func() bool { return len(o.calls()) > posted || done() })
		time.Sleep(time.Duration(i%7) * 17 * time.Millisecond)
		kill()
	}
	var got []string
	for _, c := range o.calls() {
		if webhook := c.header.Get("webhook-id"); len(got) == 0 || got[len(got)-1] != webhook {
			got = append(got, webhook)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d posts, want %d in their order: %v", len(got), len(want), got)
	}
}

// A state that was read before a post was noted is not used after it.
func TestNothingIsPostedTwiceByALookDuringAPost(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	w, o, k := one(t, announcement.Discord, func(int, http.ResponseWriter, *http.Request) { <-answer })
	w.levelUp(gid, 2)
	a, _ := w.run(1, o.trust)
	w.wait("the post", func() bool { return len(o.calls()) == 1 })
	w.set(func() {
		w.stateRead = func() {
			close(answer)
			for i := 0; i < 3000 && w.state(k).LastSent.IsZero(); i++ {
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(every) // so that whoever posted is done
		}
	})
	a.Changed(gid)
	w.wait("the post is noted", func() bool { return !w.state(k).LastSent.IsZero() })
	w.levelUp(gid, 3)
	w.posted(o, k, "2", "3")
}

// Of two replicas the one without the lease posts nothing, and one that lost it notes nothing.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	w, o, k := one(t, announcement.Discord, nil)
	w.run(1, o.trust)
	w.run(2, o.trust)
	w.levelUp(gid, 2)
	w.posted(o, k, "2")
	w.set(func() { w.fence = 2 })
	w.levelUp(gid, 3)
	w.posted(o, k, "2", "3")
}

// While a store is away everything waits; nothing is posted twice because the archive did not answer.
func TestStoresThatAreAway(t *testing.T) {
	t.Parallel()
	w, o, k := one(t, announcement.Discord, nil)
	w.run(1, o.trust)
	w.set(func() { w.liveAway = errors.New("Redis is away") })
	w.levelUp(gid, 2)
	time.Sleep(2 * every)
	w.set(func() { w.liveAway = nil })
	w.posted(o, k, "2")

	w.set(func() { w.away = errors.New("Postgres is away") })
	w.levelUp(gid, 3)
	time.Sleep(2 * every)
	w.set(func() { w.away = nil })
	w.posted(o, k, "2", "3")

	w.set(func() { w.noteFails = errors.New("Postgres is away") })
	w.levelUp(gid, 4)
	w.posted(o, k, "2", "3", "4")
	w.set(func() { w.logs[gid] = nil }) // Redis is lost
	w.levelUp(gid, 5)
	w.posted(o, k, "2", "3", "4", "5")
}

// An announcement that begins again while an old message is tried is not touched by what becomes of that.
func TestANewAddressWhileTheOldOneFails(t *testing.T) {
	t.Parallel()
	w, o, k := one(t, announcement.Discord, func(_ int, w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "new") {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	w.levelUp(gid, 2)
	a, _ := w.run(1, o.trust)
	w.wait("a failure", func() bool { return w.state(k).LastError != "" })
	w.announces(gid, hook(1, announcement.Discord, o.url+"new"))
	w.set(func() { s := w.states[k]; s.Version = 2; w.states[k] = s })
	a.Changed(gid)
	time.Sleep(5 * time.Millisecond)
	w.levelUp(gid, 3)
	w.wait("the new address", func() bool { return !w.state(k).LastSent.IsZero() })
	if calls := o.calls(); calls[len(calls)-1].path != "/hook/topsecretnew" || o.contents()[len(calls)-1] != "3" {
		t.Errorf("got %q", o.contents())
	}
}
