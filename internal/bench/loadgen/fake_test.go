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
	guild   []byte            // its settings; nil when there is none
	keys    map[string]string // owners of the keys that are there
	made    int               // keys
	changes int
	perCall int // messages of the last call

	// onChange answers the nth change in place of the fake, which it may have count (or not) by calling add.
	onChange func(w http.ResponseWriter, n int, user string, add func(user string, times int64))
	// onCreate says whether the creation of a member may go on.
	onCreate func(w http.ResponseWriter) bool
	// onMessage says whether a message of the nth call is counted, and onCall answers the call in place of the fake if it says so.
	onMessage func(call int, user string) bool
	onCall    func(w http.ResponseWriter, call int) bool

	// limit is how many requests each owner may make until refill, as if in a minute; 0 for none. retryAfter goes with a refusal.
	limit, retryAfter int
	used              map[string]int // by owner

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

const fakeKey = "lb_fake" // and the key's number

// admits charges the owner of the request's key, or answers in place of the fake; the fake is locked.
func (f *fake) admits(w http.ResponseWriter, r *http.Request) bool {
	owner := f.keys[r.Header.Get("X-Api-Key")]
	if owner == "" {
		w.WriteHeader(http.StatusUnauthorized)
		return false
	}
	w.Header().Set("X-RateLimit-Limit", strconv.Itoa(cmp.Or(f.limit, unlimited)))
	if f.used[owner]++; f.limit > 0 && f.used[owner] > f.limit {
		w.Header().Set("Retry-After", strconv.Itoa(max(f.retryAfter, 1)))
		w.WriteHeader(http.StatusTooManyRequests)
		return false
	}
	return true
}

// refill fills everybody's budget.
func (f *fake) refill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.used)
}

func startFake(t *testing.T, f *fake) (o Options) {
	t.Helper()
	f.xp, f.keys, f.used = map[string]int64{}, map[string]string{}, map[string]int{}
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
	if number, found := strings.CutPrefix(r.URL.Path, "/admin/keys/"); found && r.Method == http.MethodDelete {
		delete(f.keys, fakeKey+number)
		w.WriteHeader(http.StatusNoContent)
		return
	}
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
		var key struct{ OwnerID string }
		_ = json.NewDecoder(r.Body).Decode(&key)
		f.made++
		secret := fakeKey + strconv.Itoa(f.made)
		f.keys[secret] = key.OwnerID
		fmt.Fprintf(w, `{"id":"%d","key":%q}`, f.made, secret)
	default:
		w.WriteHeader(http.StatusTeapot)
	}
}

// left reports what the run has left behind.
func (f *fake) left() (guild, key bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.guild != nil, len(f.keys) > 0
}

func (f *fake) member(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.admits(w, r) {
		return
	}
	user := r.PathValue("user")
	var body struct{ XP json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
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
	if !f.admits(w, r) {
		return
	}
	number, _ := strconv.Atoi(r.URL.Query().Get("page"))
	all := []entry{}
	for user, xp := range f.xp {
		all = append(all, entry{user, xp})
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(b.XP, a.XP), cmp.Compare(a.UserID, b.UserID)) })
	from := min((number-1)*pageSize, len(all))
	json.NewEncoder(w).Encode(map[string]any{"levels": all[from:min(from+pageSize, len(all))]})
}
