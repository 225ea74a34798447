package bot_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"levelboard/internal/app"
	"levelboard/internal/bot"
	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/discord"
	"levelboard/internal/testing/service"
	"levelboard/internal/testing/testenv"
)

const (
	guildID = "200000000000000001"
	owner   = "100000000000000001"
	ada     = "100000000000000002"
	bo      = "100000000000000003"
	cy      = "100000000000000004"

	general = "400000000000000001"
	news    = "400000000000000002"
	thread  = "400000000000000003"

	regular = "300000000000000001"
	veteran = "300000000000000002"
	admins  = "300000000000000003"
	staff   = "300000000000000004"
)

func TestMain(m *testing.M) {
	if os.Getenv("BOT_TEST_CHILD") != "" { // a bot to be killed
		os.Exit(bot.Main(nil, os.Environ(), "test", os.Stderr))
	}
	testenv.Main(m, goleak.IgnoreTopFunction("github.com/disgoorg/disgo/rest.(*rateLimiterImpl).cleanup"))
}

// gophers is a guild with an owner and these members.
func gophers(members ...string) *discord.Guild {
	g := &discord.Guild{
		ID: guildID, Name: "Gophers of Discord", OwnerID: owner, SystemChannelID: general,
		Roles: []discord.Role{{ID: regular, Name: "Regular"}, {ID: veteran, Name: "Veteran"}, {ID: admins, Name: "Admins", Permissions: 8}, {ID: staff, Name: "Staff"}},
		Channels: []discord.Channel{
			{ID: general, Name: "general"}, {ID: news, Name: "news"}, {ID: thread, Name: "a thread", ParentID: news, Type: 11},
		},
		Members: map[string][]string{owner: nil},
	}
	for _, id := range members {
		g.Members[id] = nil
	}
	return g
}

// tick is what a second is for the bots of this process.
const tick = 100 * time.Millisecond

// world is a Levelboard, a Discord, and what is between the bot and Levelboard.
type world struct {
	t      *testing.T
	chat   *discord.Server
	api    *apitest.Client
	key    string // the test's own
	front  *front
	queue  int           // the bot's limit, if it is not 0
	answer time.Duration // the bot's AnswerTime, if it is not 0
	data   string        // the bot's
	log    *testenv.Log
}

func newWorld(t *testing.T, guilds ...*discord.Guild) *world {
	t.Helper()
	t.Parallel()
	running := service.Embedded(t, "LEVELBOARD_SNAPSHOT_INTERVAL=200ms", "LEVELBOARD_ALLOWED_PRIVATE_HOSTS=127.0.0.1")
	return &world{
		t: t, chat: discord.Start(t, guilds...), api: apitest.NewClient(t, running.URL()), front: newFront(t, running), data: t.TempDir(), log: &testenv.Log{},
	}
}

func (w *world) environ(more ...string) []string {
	return append([]string{
		"DISCORD_TOKEN=" + discord.Token, "LEVELBOARD_URL=" + w.front.url, "LEVELBOARD_ADMIN_TOKEN=" + service.AdminToken, "LEVELBOARD_BOT_DATA=" + w.data,
		"LEVELBOARD_BOT_DISCORD_URL=" + w.chat.URL, "LEVELBOARD_OPS_LISTEN=127.0.0.1:0",
	}, more...)
}

// start runs a bot in this process. stop ends it as SIGTERM does.
func (w *world) start(more ...string) (stop func()) {
	w.t.Helper()
	settings, err := bot.Load(w.environ(more...))
	if err != nil {
		w.t.Fatal(err)
	}
	settings.Tick, settings.Queue, settings.AnswerTime = tick, cmp.Or(w.queue, settings.Queue), cmp.Or(w.answer, testenv.Patience)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- bot.Run(ctx, settings, "test", w.log) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					w.t.Errorf("the bot ended with %v", err)
				}
			case <-time.After(testenv.Patience):
				w.t.Error("the bot does not stop")
			}
			w.disconnected()
		})
	}
	w.t.Cleanup(stop)
	return stop
}

// disconnected waits until Discord has noticed that the bot is gone.
func (w *world) disconnected() {
	w.t.Helper()
	w.chat.Wait(w.t, "the end of the connection", w.chat.Alone)
}

// makeGuild sets the guild up before the bot does, with a reward at level 1 and level 2.
func (w *world) makeGuild() {
	w.t.Helper()
	w.configure(nil)
}

func (w *world) configure(more map[string]any) {
	w.t.Helper()
	role := func(id, name string) []any {
		return []any{map[string]any{"id": id, "name": name, "color": nil, "position": 1}}
	}
	document := map[string]any{
		"name": "Gophers", "memberCount": 2, "ownerId": owner, "xpPerMessageMin": 100, "xpPerMessageMax": 100, "xpGainInterval": 86_400_000,
		"roleRewards": []any{map[string]any{"level": 1, "roles": role(regular, "Regular")}, map[string]any{"level": 2, "roles": role(veteran, "Veteran")}},
	}
	for name, value := range more {
		document[name] = value
	}
	w.admin("PUT", "/admin/guilds/"+guildID, document)
}

// admin makes a call with the admin token that succeeds.
func (w *world) admin(method, path string, body any) apitest.Response {
	w.t.Helper()
	answer := w.api.Do(method, path, "", body, apitest.AdminToken(service.AdminToken))
	if answer.Status/100 != 2 {
		w.t.Fatalf("%s %s: %d %s", method, path, answer.Status, answer.Body)
	}
	return answer
}

// call makes a call with a key of the test's own.
func (w *world) call(method, path string, body any) apitest.Response {
	w.t.Helper()
	if w.key == "" {
		made := w.admin("POST", "/admin/keys", map[string]any{"name": "test", "ownerId": owner, "permission": "read_write", "guildIds": []string{guildID}, "rateLimit": 0})
		w.key = apitest.At[string](w.t, made, "key")
	}
	return w.api.Do(method, path, w.key, body)
}

func (w *world) setXP(userID string, xp int) {
	w.t.Helper()
	answer := w.call("PUT", "/v2/guilds/"+guildID+"/members", map[string]any{"mode": "set", "members": []any{map[string]any{"userId": userID, "xp": xp}}})
	if answer.Status != http.StatusOK {
		w.t.Fatalf("set XP: %d %s", answer.Status, answer.Body)
	}
}

// board is each member of the board as "user XP messages", by rank.
func (w *world) board() string {
	w.t.Helper()
	type page struct {
		Levels []struct {
			UserID           string
			XP, MessageCount int
		}
	}
	answer := w.call("GET", "/v2/levels/"+guildID+"?page=1", nil)
	if answer.Status != http.StatusOK {
		return fmt.Sprint(answer.Status)
	}
	var rows []string
	for _, row := range apitest.JSON[page](w.t, answer).Levels {
		rows = append(rows, fmt.Sprintf("%s %d %d", row.UserID, row.XP, row.MessageCount))
	}
	return strings.Join(rows, ", ")
}

// waitForLog waits until the bot has logged a sentence.
func (w *world) waitForLog(sentence string) {
	w.t.Helper()
	testenv.Wait(w.t, "the log says "+sentence, func() bool { return w.log.Has(sentence) }, func() string { return "not there" })
}

// document is the guild's document.
func (w *world) document() map[string]any {
	w.t.Helper()
	answer := w.api.Do("GET", "/admin/guilds/"+guildID, "", nil, apitest.AdminToken(service.AdminToken))
	if answer.Status != http.StatusOK {
		return nil
	}
	return apitest.JSON[map[string]any](w.t, answer)
}

// waitFor waits until what is read is as wanted.
func (w *world) waitFor(what, want string, read func() string) {
	w.t.Helper()
	got := ""
	testenv.Wait(w.t, what+" is "+want, func() bool { got = read(); return got == want }, func() string { return got })
}

// front is a proxy with faults.
type front struct {
	service http.Handler
	url     string

	mu      sync.Mutex
	lose    int    // answers to changes
	loses   string // whose paths end so
	away    bool
	refuses string // paths that end so
	hangs   string // paths that end so
	streams []context.CancelFunc
	calls   map[string]int // by path
}

func newFront(t *testing.T, running *app.App) *front {
	to, err := url.Parse(running.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	pool := &http.Transport{DisableKeepAlives: true} // nothing is left when the test ends
	proxy.Transport = pool
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	f := &front{service: proxy, loses: "/messages", calls: map[string]int{}}
	server := httptest.NewServer(f)
	t.Cleanup(func() {
		f.cut()
		server.CloseClientConnections()
		server.Close()
		pool.CloseIdleConnections()
	})
	f.url = server.URL
	return f
}

func (f *front) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// cut cuts all streams.
func (f *front) cut() {
	f.set(func() {
		for _, cut := range f.streams {
			cut()
		}
		f.streams = nil
	})
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	stream := strings.HasSuffix(r.URL.Path, "/events")
	away, lose, hangs := false, false, false
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	f.set(func() {
		f.calls[r.URL.Path]++
		hangs = f.hangs != "" && strings.HasSuffix(r.URL.Path, f.hangs)
		away = f.away || f.refuses != "" && strings.HasSuffix(r.URL.Path, f.refuses)
		if lose = !away && f.lose > 0 && r.Method != http.MethodGet && strings.HasSuffix(r.URL.Path, f.loses); lose {
			f.lose--
		}
		if stream {
			f.streams = append(f.streams, cancel)
		}
	})
	switch {
	case hangs:
		<-r.Context().Done()
	case away:
		panic(http.ErrAbortHandler)
	case lose:
		f.service.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	default:
		f.service.ServeHTTP(w, r.WithContext(ctx))
	}
}
