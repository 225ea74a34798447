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

// fake has as much of a service as a run needs. It counts correctly unless its hooks make errors.
type fake struct {
	mu      sync.Mutex
	xp      map[string]int64
	guild   []byte          // its settings, or nil
	keys    map[string]bool // secrets
	made    int             // number of keys
	changes int
	gone    string // a deleted member
	calls   int    // number of calls of messages

	// onChange answers the nth change in place of the fake. It may call add to count the change.
	onChange func(w http.ResponseWriter, n int, user string, add func(user string, times int64))
	// onCall may answer the nth call of messages, and returns whether it did. The first call creates the members.
	onCall func(w http.ResponseWriter, call int) bool

	enough func() // called at the last of someChanges
}

// someChanges is more than the number at which a fake makes errors.
const someChanges = 40

// runToTheWrong runs until the fake has answered someChanges.
func runToTheWrong(t *testing.T, f *fake, o Options) (*Result, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.enough = cancel
	o.Duration = time.Minute
	return Run(ctx, o)
}

// count counts a change. The fake is locked.
func (f *fake) count() {
	if f.changes++; f.changes == someChanges && f.enough != nil {
		f.enough()
	}
}

const fakeKey = "lb_fake" // and the key's number

// admits reports whether the request has a key, or refuses it. The fake is locked.
func (f *fake) admits(w http.ResponseWriter, r *http.Request) bool {
	if !f.keys[r.Header.Get("X-Api-Key")] {
		w.WriteHeader(http.StatusUnauthorized)
		return false
	}
	return true
}

func startFake(t *testing.T, f *fake) (o Options) {
	t.Helper()
	f.xp, f.keys = map[string]int64{}, map[string]bool{}
	mux := http.NewServeMux()
	mux.HandleFunc("/admin/", f.admin)
	mux.HandleFunc("/v2/levels/"+fakeGuild, f.page)
	mux.HandleFunc("/v2/levels/"+fakeGuild+"/users/{user}", f.member)
	mux.HandleFunc("POST /v2/guilds/"+fakeGuild+"/messages", f.messages)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	scenario, _ := FindScenario("increment")
	return Options{
		URL: server.URL, Scenario: scenario, Concurrency: 3, Duration: 100 * time.Millisecond, Members: 120, Skew: Uniform, Seed: 1, Verify: true,
		Batch: "10", cooldown: time.Millisecond,
	}
}

const fakeGuild = "9000000000000000001"

func (f *fake) admin(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if number, found := strings.CutPrefix(r.URL.Path, "/admin/keys/"); found && r.Method == http.MethodDelete {
		delete(f.keys, fakeKey+number)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	switch r.Method + " " + strings.TrimPrefix(r.URL.Path, "/admin") {
	case "GET /guilds/" + fakeGuild:
		if f.guild == nil {
			w.WriteHeader(http.StatusNotFound)
		}
		w.Write(f.guild)
	case "PUT /guilds/" + fakeGuild:
		f.guild, _ = io.ReadAll(r.Body)
	case "DELETE /guilds/" + fakeGuild:
		f.guild, f.xp = nil, map[string]int64{}
		w.WriteHeader(http.StatusNoContent)
	case "POST /keys":
		f.made++
		secret := fakeKey + strconv.Itoa(f.made)
		f.keys[secret] = true
		fmt.Fprintf(w, `{"id":"%d","key":%q}`, f.made, secret)
	default:
		w.WriteHeader(http.StatusTeapot)
	}
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

// messages gives 3 XP for each message, without a cooldown.
func (f *fake) messages(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.admits(w, r) {
		return
	}
	var call struct{ Messages []struct{ UserID string } }
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	f.calls++
	if f.calls > 1 {
		f.count()
	}
	answer := `{"results":[`
	for i, m := range call.Messages {
		if i > 0 {
			answer += ","
		}
		f.xp[m.UserID] += 3
		answer += fmt.Sprintf(`{"userId":%q,"gained":3,"xp":%d,"addRoles":[]}`, m.UserID, f.xp[m.UserID])
	}
	if f.onCall != nil && f.onCall(w, f.calls) {
		return
	}
	fmt.Fprint(w, answer+"]}")
}
