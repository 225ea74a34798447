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

func TestAMessageOfDiscord(t *testing.T) {
	t.Parallel()
	w, o, k := one(t, announcement.Discord, nil)
	last := w.levelUp(gid, 5)
	w.run(1, o.trust)
	w.posted(o, k, "5")
	call := o.calls()[0]
	if call.method != http.MethodPost || call.path != "/hook/topsecret" || call.body != `{"content":"5","allowed_mentions":{"parse":[]}}` ||
		call.header.Get("Content-Type") != "application/json" {
		t.Errorf("sent %+v", call)
	}
	if s := w.state(k); s.Cursor != last {
		t.Errorf("state %+v, want its cursor at %v", s, last)
	}
}

// Silent events are not announced, and move no message.
func TestWhatIsSilent(t *testing.T) {
	t.Parallel()
	w, o, k := one(t, announcement.Discord, nil)
	const away id.User = "200000000000000002"
	w.gone[away] = true
	w.set(func() { s := w.states[k]; s.Cursor.Millis = 1; w.states[k] = s })
	old, bulk, absent := raised(1, 2), raised(1, 2), raised(2, 3)
	old.ID.Millis, bulk.Silent, absent.User = uint64(time.Now().Add(-oldest-time.Minute).UnixMilli()), true, away
	for _, e := range []events.Entry{
		old, bulk, absent, raised(9, 8), {Reset: events.Imported}, {User: user, Moved: events.Removed},
		{Period: `{"id":"2026-W48","kind":"week","members":0,"winners":[]}`}, raised(3, 4),
	} {
		w.happens(gid, e)
	}
	w.run(1, o.trust)
	w.posted(o, k, "4")
}

func TestABurstIsOneMessage(t *testing.T) {
	t.Parallel()
	w, o, k := one(t, announcement.Discord, nil)
	var want []string
	for l := range level.Level(13) {
		w.levelUp(gid, l+1)
		want = append(want, fmt.Sprint(l+1))
	}
	w.run(1, o.trust)
	w.posted(o, k, strings.Join(want[:10], "\n"), strings.Join(want[10:], "\n"))
}

// As many as fit into 2,000 characters, with the line breaks, become one message.
func TestALongBurstIsSplit(t *testing.T) {
	t.Parallel()
	w, o := newWorld(t), newTarget(t, nil)
	a := hook(1, announcement.Discord, o.url)
	text := strings.Repeat("é", 998) + "{level}"
	a.Text = &text
	w.announces(gid, a)
	for _, l := range []level.Level{8, 9, 10, 11} {
		w.levelUp(gid, l)
	}
	w.run(1, o.trust)
	line := func(l string) string { return strings.Replace(text, "{level}", l, 1) }
	w.posted(o, Key{gid, a.ID}, line("8")+"\n"+line("9"), line("10"), line("11"))
}

// A message says what its event is, and mentions only the members that it is about.
func TestMessages(t *testing.T) {
	const away id.User = "200000000000000002"
	winners := `{"id":"season-x","kind":"season","name":"Winter","members":2,"winners":[` +
		`{"rank":1,"userId":"` + string(user) + `","gained":5},{"rank":2,"userId":"` + string(away) + `","gained":4}]}`
	for name, c := range map[string]struct {
		text   string
		change func(a *announcement.Announcement)
		events []events.Entry
		want   string
		says   string // in the body
	}{
		"mentions": {
			"@everyone {user} {rank} {guild}", func(a *announcement.Announcement) { a.Mention = true }, []events.Entry{raised(1, 2), raised(2, 3)},
			"@everyone <@200000000000000001> 3 Gophers\n@everyone <@200000000000000001> 3 Gophers", `"allowed_mentions":{"parse":[],"users":["200000000000000001"]}`,
		},
		"winners": {"{period}: {first}{^second}, no second{/second}", nil, []events.Entry{{Period: winners}}, "Winter: ada, no second", `"parse":[]`},
		"roles, each once, of rewards in the jump": {
			"{level}: {roles}", func(a *announcement.Announcement) { a.OnlyWithRoles = true }, []events.Entry{raised(0, 1), raised(1, 5), raised(5, 6)},
			"5: Regular, Old", `"parse":[]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, o := newWorld(t), newTarget(t, nil)
			w.gone[away] = true
			a := hook(1, announcement.Discord, o.url)
			if a.Text = &c.text; c.change != nil {
				c.change(&a)
			}
			w.announces(gid, a)
			regular, old := guild.Role{ID: "1", Name: "Regular"}, guild.Role{ID: "2", Name: "Old"}
			w.guilds[gid].RoleRewards = []guild.RoleReward{
				{Level: 0, Roles: []guild.Role{{ID: "3", Name: "New"}}}, {Level: 2, Roles: []guild.Role{regular}}, {Level: 5, Roles: []guild.Role{regular, old}}, {Level: 6},
			}
			for _, e := range c.events {
				w.happens(gid, e)
			}
			w.run(1, o.trust)
			w.posted(o, Key{gid, a.ID}, c.want)
			if body := o.calls()[0].body; !strings.Contains(body, c.says) {
				t.Errorf("sent %s", body)
			}
		})
	}
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

// A host that answers 5xx is tried five times; then the message is dropped and the next one is tried.
func TestFiveTries(t *testing.T) {
	t.Parallel()
	w, o, k := one(t, announcement.Discord, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n <= mostTries {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	w.levelUp(gid, 2)
	w.run(1, o.trust)
	w.wait("a failure is noted", func() bool { return strings.Contains(w.state(k).LastError, "500") })
	w.levelUp(gid, 3)
	w.posted(o, k, "2", "2", "2", "2", "2", "3")
	calls := o.calls()
	for i := 1; i < mostTries; i++ {
		if waited := calls[i].at.Sub(calls[i-1].at); waited < every<<(i-1) {
			t.Errorf("try %d after %v", i+1, waited)
		}
	}
}

func TestAnswers(t *testing.T) {
	for status, off := range map[int]bool{401: true, 403: true, 404: true, 410: true, 400: false, 413: false, 302: false} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			w, o, k := one(t, announcement.Discord, func(n int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "https://elsewhere.example/topsecret")
				if n == 1 {
					w.WriteHeader(status)
				}
			})
			w.levelUp(gid, 2)
			a, _ := w.run(1, o.trust)
			w.wait("the answer is noted", func() bool { return w.state(k).LastError != "" })
			if s := w.state(k); (s.Off != "") != off || !strings.Contains(s.LastError, fmt.Sprint(status)) || strings.Contains(s.LastError+s.Off, "topsecret") {
				t.Errorf("state %+v", s)
			}
			if off { // what happens meanwhile, and what switched it off, is not announced
				w.levelUp(gid, 3)
				a.Changed(gid)
				time.Sleep(2 * every)
				if err := a.SwitchOn(t.Context(), k); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Millisecond)
			}
			w.levelUp(gid, 4)
			w.posted(o, k, "2", "4")
		})
	}
}

// 429 is obeyed, in seconds and in milliseconds, and is no try.
func Test429(t *testing.T) {
	for name, c := range map[string]struct {
		header, body string
		wait         time.Duration
	}{
		"seconds in the header":           {"1", "", time.Second},
		"seconds with a fraction":         {"", `{"retry_after":0.35,"global":false}`, 350 * time.Millisecond},
		"the body is more exact":          {"1", `{"retry_after":0.4}`, 400 * time.Millisecond},
		"milliseconds":                    {"1", `{"retry_after":700}`, 700 * time.Millisecond},
		"milliseconds without the header": {"", `{"retry_after":1200}`, 1200 * time.Millisecond},
		"neither":                         {"", "no JSON", leastWait},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const times = 6
			w, o, k := one(t, announcement.Discord, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n <= times {
					if c.header != "" {
						w.Header().Set("Retry-After", c.header)
					}
					w.WriteHeader(http.StatusTooManyRequests)
					_, _ = w.Write([]byte(c.body))
				}
			})
			w.levelUp(gid, 2)
			w.run(1, o.trust)
			w.posted(o, k, slices.Repeat([]string{"2"}, times+1)...)
			calls := o.calls()
			for i := 1; i <= times; i++ {
				if waited := calls[i].at.Sub(calls[i-1].at); waited < c.wait || waited > c.wait+10*time.Second {
					t.Errorf("it waited %v, want %v", waited, c.wait)
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
	for i := 0; w.state(k).Cursor.String() != strings.TrimPrefix(want[99], "msg_hook-1_"); i++ {
		w.set(func() { w.fence++ })
		a, kill := w.run(w.fence, o.trust)
		a.Changed(gid)
		time.Sleep(every + time.Duration(i%7)*17*time.Millisecond)
		kill()
		if i > 60 {
			t.Fatal("it does not come to an end")
		}
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
