package torture

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// openPage follows the open page of the guild's board on a replica. order is the last order of rows that it got.
func (h *harness) openPage(r *replica) (order *atomic.Value) {
	h.t.Helper()
	order = &atomic.Value{}
	order.Store("")
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, *r.url.Load()+"/leaderboard/"+mainGuild+"/live", nil)
	if err != nil {
		h.t.Fatal(err)
	}
	answer, err := h.http.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if _, rows, ok := strings.Cut(lines.Text(), `"order":[`); ok {
				rows, _, _ = strings.Cut(rows, "]")
				order.Store(rows)
			}
		}
	}()
	h.t.Cleanup(func() { _ = answer.Body.Close(); <-ended })
	return order
}

// A replica is killed when the archive has a change of a flag and Redis does not. The other replica, with only an open page, applies it within
// a second, and so does an emptied Redis. Without Postgres a change is refused and not made.
func TestAFlagOutlivesTheReplicaThatChangedIt(t *testing.T) {
	h := newHarness(t, durable, pair)
	a, b := h.replicas[0], h.replicas[1]
	hiddenUser := h.counters[0].user
	set := func(r *replica, hidden bool) answer {
		return h.call(r, http.MethodPut, hiddenPath(mainGuild), "", map[string]any{"hidden": hidden, "userIds": []string{hiddenUser}})
	}
	archived := func(hidden bool) bool {
		n, err := h.count(`SELECT count(*) FROM hidden WHERE user_id = $1 AND flags <> 0`, hiddenUser)
		return err == nil && n == map[bool]int{true: 1, false: 0}[hidden]
	}
	page := func(r *replica) string {
		return string(h.call(r, http.MethodGet, "/v2/levels/"+mainGuild+"?page=1", "", nil).body)
	}
	order := h.openPage(b)
	shows := func(hidden bool) bool {
		rows := order.Load().(string)
		return rows != "" && strings.Contains(rows, hiddenUser) != hidden
	}
	testenv.Wait(t, "the open page shows the board", func() bool { return shows(false) })
	for _, hidden := range []bool{true, false, true} {
		h.redisProxy.Hold()
		go set(a, hidden)
		testenv.Wait(t, "the archive has the flag", func() bool { return archived(hidden) })
		if shows(hidden) {
			t.Fatal("Redis had the flag before it could, so the test proves nothing")
		}
		wait := a.signal(syscall.SIGKILL)
		wait()
		h.redisProxy.Cut() // drops what the dead replica had sent
		h.redisProxy.Release()
		began := time.Now()
		testenv.Wait(t, fmt.Sprintf("the open page of the other replica shows that hidden is %v", hidden), func() bool { return shows(hidden) })
		t.Logf("the flag was applied %v after Redis came back", time.Since(began).Round(time.Millisecond))
		if body := page(b); strings.Contains(body, hiddenUser) == hidden {
			t.Errorf("with the user hidden: %v, the board is %s", hidden, body)
		}
		h.restart(a)
	}
	if err := h.live.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	for _, r := range h.replicas {
		if body := page(r); body == "" || strings.Contains(body, hiddenUser) {
			t.Errorf("after Redis was emptied the board of replica %s is %s, want it without the hidden user", r.name, body)
		}
	}
	h.postgres.Kill()
	if refused := set(b, false); refused.status != http.StatusServiceUnavailable {
		t.Errorf("lifting a flag without Postgres is %s, want 503", refused.text)
	}
	if body := page(b); body == "" || strings.Contains(body, hiddenUser) {
		t.Errorf("without Postgres the board is %s, want it without the hidden user", body)
	}
	h.postgres.Start()
	if !archived(true) {
		t.Error("the archive has the refused change")
	}
	testenv.Wait(t, "the flag is lifted", func() bool { return set(b, false).verdict == done })
	testenv.Wait(t, "the open page shows that it is", func() bool { return shows(false) })
}
