package loadgen

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is as much of a service as a run needs. It counts right, and its hooks make it do wrong.
type fake struct {
	server *httptest.Server

	mu      sync.Mutex
	xp      map[string]int64
	guild   []byte // its settings; nil when there is none
	key     bool
	changes int
	perCall int // messages of the last call

	// onChange answers the nth change in place of the fake, which it may have count (or not) by calling add.
	onChange func(w http.ResponseWriter, n int, user string, add func(user string, times int64))
	// onCreate says whether the creation of a member may go on.
	onCreate func(w http.ResponseWriter) bool
	// onMessage says whether a message of the nth call is counted, and onCall answers the call in place of the fake if it says so.
	onMessage func(call int, user string) bool
	onCall    func(w http.ResponseWriter, call int) bool

	enough func() // called with the last of someChanges
}

// someChanges are more than those at which a fake does wrong.
const someChanges = 40

// runToTheWrong runs until the fake has answered someChanges, however long that takes.
func runToTheWrong(t *testing.T, f *fake, o Options) (*Result, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.enough = cancel
	o.Duration = time.Minute
	return Run(ctx, o)
}

// count counts a change; the fake is locked.
func (f *fake) count() {
	if f.changes++; f.changes == someChanges && f.enough != nil {
		f.enough()
	}
}

const fakeKey = "lb_fake"

func startFake(t *testing.T, f *fake) (o Options) {
	t.Helper()
	f.xp = map[string]int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("/admin/", f.admin)
	mux.HandleFunc("/v2/levels/"+guildID, f.page)
	mux.HandleFunc("/v2/levels/"+guildID+"/users/{user}", f.member)
	mux.HandleFunc("POST /v2/guilds/"+guildID+"/messages", f.messages)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	f.server = server
	scenario, _ := FindScenario("increment")
	return Options{
		URL: server.URL, Admin: adminOf(server.URL, ""), Scenario: scenario,
		Concurrency: 3, Duration: 100 * time.Millisecond, Members: 120, Skew: Uniform, Seed: 1, Verify: true,
	}
}

// adminOf calls /admin of a service.
func adminOf(base, token string) AdminCall {
	return func(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
		request, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(string(body)))
		if err != nil {
			return 0, nil, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, nil, err
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode > 299 {
			err = fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, answer)
		}
		return response.StatusCode, answer, err
	}
}

func (f *fake) admin(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch r.Method + " " + strings.TrimPrefix(r.URL.Path, "/admin") {
	case "GET /guilds/" + guildID:
		if f.guild == nil {
			w.WriteHeader(http.StatusNotFound)
		}
		w.Write(f.guild)
	case "PUT /guilds/" + guildID:
		f.guild, _ = io.ReadAll(r.Body)
	case "DELETE /guilds/" + guildID:
		f.guild, f.xp = nil, map[string]int64{}
		w.WriteHeader(http.StatusNoContent)
	case "POST /keys":
		f.key = true
		fmt.Fprintf(w, `{"id":"one","key":%q}`, fakeKey)
	case "DELETE /keys/one":
		f.key = false
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusTeapot)
	}
}

// left reports what the run has left behind.
func (f *fake) left() (guild, key bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.guild != nil, f.key
}

func (f *fake) member(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	user := r.PathValue("user")
	var body struct{ XP json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || !f.key || r.Header.Get("X-Api-Key") != fakeKey {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if r.Method == http.MethodPost {
		if f.onCreate == nil || f.onCreate(w) {
			f.xp[user], _ = strconv.ParseInt(string(body.XP), 10, 64)
		}
		return
	}
	var change struct{ Increment int64 }
	if err := json.Unmarshal(body.XP, &change); err != nil || r.Method != http.MethodPatch {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	add := func(user string, times int64) { f.xp[user] += times * change.Increment }
	f.count()
	if f.onChange != nil {
		f.onChange(w, f.changes, user, add)
		return
	}
	add(user, 1)
}

func (f *fake) page(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	number, _ := strconv.Atoi(r.URL.Query().Get("page"))
	all := []entry{}
	for user, xp := range f.xp {
		all = append(all, entry{user, xp})
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(b.XP, a.XP), cmp.Compare(a.UserID, b.UserID)) })
	from := min((number-1)*pageSize, len(all))
	json.NewEncoder(w).Encode(map[string]any{"levels": all[from:min(from+pageSize, len(all))]})
}
