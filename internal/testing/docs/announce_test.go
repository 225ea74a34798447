package docs_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// announcer answers as a guild does of which a day closes, whose stream breaks, and of which a week closes meanwhile.
type announcer struct {
	mu      sync.Mutex
	streams []string // the Last-Event-ID of each
}

// begins notes a stream, if there is one, and returns how many there are.
func (a *announcer) begins(lastEventID ...string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.streams = append(a.streams, lastEventID...)
	return len(a.streams)
}

const closedPeriod = `{"id":%q,"kind":"day","name":null,"start":"2026-11-24T00:00:00Z","end":"2026-11-25T00:00:00Z",` +
	`"members":2,"winners":[{"rank":1,"userId":"100000000000000002","gained":350},{"rank":2,"userId":"100000000000000003","gained":200}]}`

func (a *announcer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Api-Key") != "lb_key" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	listed := func(id string, closed bool) string {
		return strings.Replace(fmt.Sprintf(closedPeriod, id), `"members"`, fmt.Sprintf(`"closed":%v,"members"`, closed), 1)
	}
	switch r.URL.Path + "?" + r.URL.RawQuery {
	case "/v2/levels/200000000000000001/periods?page=1&kind=day":
		fmt.Fprintf(w, `{"periods":[%s,%s]}`, listed("2026-11-25", false), listed("2026-11-23", true))
	case "/v2/levels/200000000000000001/periods?page=1&kind=week":
		fmt.Fprintf(w, `{"periods":[%s]}`, listed("2026-W48", a.begins() > 1))
	case "/v2/levels/200000000000000001/periods?page=1&kind=month", "/v2/levels/200000000000000001/periods?page=1&kind=season":
		_, _ = io.WriteString(w, `{"periods":[]}`)
	case "/v2/guilds/200000000000000001/events?":
		if a.begins(r.Header.Get("Last-Event-ID")) == 1 {
			day := fmt.Sprintf(closedPeriod, "2026-11-24")
			fmt.Fprintf(w, "retry: 2000\nid: 1-0\n\nid: 2-0\nevent: period\ndata: %s\n\n", day)
			fmt.Fprintf(w, ": still here\n\nid: 3-0\nevent: period\ndata: %s\n\nid: 4-0\nevent: levelup\ndata: {}\n\n", day)
			return
		}
		_, _ = io.WriteString(w, "retry: 2000\nid: 5-0\nevent: reset\ndata: {}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// TestAnnounceWinners runs docs/examples/announce: it announces each period once that closes after its first run, resumes its stream,
// and reads the list after a reset.
func TestAnnounceWinners(t *testing.T) {
	guild := &announcer{}
	server := httptest.NewServer(guild)
	defer server.Close()
	defer server.CloseClientConnections()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "../../../docs/examples/announce", "200000000000000001", t.TempDir())
	command.Env = append(os.Environ(), "LEVELBOARD_URL="+server.URL, "KEY=lb_key")
	command.WaitDelay = 10 * time.Second
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for lines := bufio.NewScanner(out); len(got) < 2 && lines.Scan(); {
		got = append(got, lines.Text())
	}
	const winners = ": 1. <@100000000000000002> +350 XP, 2. <@100000000000000003> +200 XP"
	if want := []string{"2026-11-24" + winners, "2026-W48" + winners}; !slices.Equal(got, want) {
		t.Errorf("it announced %q, want %q", got, want)
	}
	cancel()
	_ = command.Wait()
	if guild.begins(); !slices.Equal(guild.streams, []string{"", "4-0"}) {
		t.Errorf("its streams followed %q, want one from the present on and one after 4-0", guild.streams)
	}
}
