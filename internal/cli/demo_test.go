package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// runningDemo is a demo that has printed its calls.
type runningDemo struct {
	printed string
	stderr  bytes.Buffer // read it after the end
	ctx     context.Context
	stop    context.CancelFunc
	ended   chan struct{}
	code    int // set at the end
}

func startDemo(t *testing.T, environ []string, args ...string) *runningDemo {
	t.Helper()
	d := &runningDemo{ended: make(chan struct{})}
	d.ctx, d.stop = context.WithTimeout(t.Context(), 2*testenv.Patience)
	t.Cleanup(func() {
		d.stop()
		<-d.ended
	})
	out, in := io.Pipe()
	go func() {
		defer close(d.ended)
		d.code = Run(d.ctx, append([]string{"demo", "--listen", "127.0.0.1:0"}, args...),
			Environment{strings.NewReader(""), in, &d.stderr, append(environ, "LEVELBOARD_OPS_LISTEN=127.0.0.1:0")})
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "Ctrl+C") {
		d.printed += lines.Text() + "\n"
	}
	go io.Copy(io.Discard, out)
	return d
}

// end stops the demo and returns its standard error.
func (d *runningDemo) end(t *testing.T) string {
	t.Helper()
	d.stop()
	<-d.ended
	if d.code != exitOK {
		t.Errorf("the demo's exit code is %d, want 0\n%s", d.code, d.stderr.String())
	}
	return d.stderr.String()
}

const aboutClients = "To use the commands guild and key on it, set the same LEVELBOARD_ADMIN_TOKEN, of 32 characters or more, for the demo and for them.\n"

func TestTheDemosCallsWorkAndItsBoardMoves(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	// Stores, limits and directories in the environment must not reach the demo.
	d := startDemo(t, []string{
		"LEVELBOARD_REDIS_URL=redis://nowhere.invalid", "LEVELBOARD_POSTGRES_URL=postgres://nowhere.invalid/x", "LEVELBOARD_POSTGRES_URL=postgres://elsewhere.invalid/x",
		"LEVELBOARD_REDIS_WAIT_REPLICAS=1", "LEVELBOARD_REDIS_CA_FILE=/nowhere", "LEVELBOARD_REDIS_SENTINEL_PASSWORD=secret", "LEVELBOARD_DATA_DIR=/nowhere",
		"LEVELBOARD_RATE_LIMIT_IDENTITY=1", "LEVELBOARD_RATE_LIMIT_KEY=1", "LEVELBOARD_PUBLIC_URL=https://nowhere.invalid", "LEVELBOARD_OAUTH_CLIENT_ID=",
	}, "--members", "250", "--rate", "100")
	if !strings.Contains(d.printed, aboutClients) {
		t.Errorf("the demo does not say how other commands reach it:\n%s", d.printed)
	}

	calls := linesWith(d.printed, "curl ")
	if len(calls) != 3 {
		t.Fatalf("the demo prints %d calls, want 3:\n%s", len(calls), d.printed)
	}
	board := func() (total int64, entries int) {
		status, body := paste(t, calls[0])
		var page struct {
			Levels []struct{ XP int64 }
			Vanity string
		}
		if err := json.Unmarshal([]byte(body), &page); status != http.StatusOK || err != nil || page.Vanity != "demo" {
			t.Fatalf("%s: %d %s, want the demo's board", calls[0], status, body)
		}
		for _, l := range page.Levels {
			total += l.XP
		}
		return total, len(page.Levels)
	}
	before, entries := board()
	if entries != 100 {
		t.Errorf("the first page has %d entries, want 100", entries)
	}

	var member struct{ Level struct{ Rank, XP int64 } }
	if status, body := paste(t, calls[1]); status != http.StatusOK || json.Unmarshal([]byte(body), &member) != nil || member.Level.Rank < 1 {
		t.Errorf("%s: %d %s, want a member with a rank", calls[1], status, body)
	}
	var raised struct{ Level struct{ XP int64 } }
	if status, body := paste(t, calls[2]); status != http.StatusOK || json.Unmarshal([]byte(body), &raised) != nil || raised.Level.XP < member.Level.XP+25 {
		t.Errorf("%s: %d %s, want 25 more than %d XP", calls[2], status, body, member.Level.XP)
	}

	// 25 XP of the increase are the call's. The demo's members must gain the rest meanwhile.
	for now := before; now <= before+25; now, _ = board() {
		if d.ctx.Err() != nil {
			t.Fatal("the demo's board does not change")
		}
	}

	if said := d.end(t); said != "" {
		t.Errorf("the demo's standard error is %q, want nothing", said)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("the demo left %v in the temporary directory (%v)", left, err)
	}
}

func TestTheDemoHasClosedPeriods(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d := startDemo(t, []string{"LEVELBOARD_SNAPSHOT_INTERVAL=500ms"}, "--members", "300")
	url := regexp.MustCompile(`Leaderboard +(http://[^/]+)/`).FindStringSubmatch(d.printed)[1] + "/v2/levels/demo"
	get := func(path string, into any) {
		t.Helper()
		answer, err := testenv.Send(d.ctx, nil, "GET", url+path, "")
		if err != nil || answer.Status != 200 || json.Unmarshal(answer.Body, into) != nil {
			t.Fatalf("%s: %d %s (%v), want 200", path, answer.Status, answer.Body, err)
		}
	}
	for _, kind := range []string{"week", "month", "season"} {
		var board struct{ Levels []struct{ Gained int64 } }
		if get("?page=1&period="+kind, &board); len(board.Levels) < 3 || board.Levels[0].Gained < board.Levels[2].Gained {
			t.Errorf("the running %s has %d members on its first page, want 3 or more, best first", kind, len(board.Levels))
		}
	}
	for kind, want := range map[string]int{"week": 10, "month": 2} {
		for closed := 0; closed < want; {
			var list struct {
				Periods []struct {
					ID      string
					Closed  bool
					Winners []struct{ Gained int64 }
				}
			}
			get("/periods?page=1&kind="+kind, &list)
			closed = 0
			for _, p := range list.Periods {
				if p.Closed {
					closed++
				}
				if len(p.Winners) != 3 && p.Closed {
					t.Errorf("the closed %s has %d winners, want 3", p.ID, len(p.Winners))
				}
			}
			select {
			case <-d.ctx.Done():
				t.Fatalf("%d periods of the kind %s have closed, want more", closed, kind)
			case <-time.After(500 * time.Millisecond):
			}
		}
	}
	var activity struct{ Days []struct{ Members int } }
	if get("/activity?days=100", &activity); len(activity.Days) < 60 {
		t.Errorf("%d days have activity, want at least 60", len(activity.Days))
	}
	d.end(t)
}

func TestTheDemoAcceptsAnAdminToken(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	token := strings.Repeat("t", 32)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"LEVELBOARD_ADMIN_TOKEN=" + token, "LEVELBOARD_ADMIN_TOKEN_FILE=" + file} {
		d := startDemo(t, []string{setting}, "--members", "10", "--rate", "0")
		url := regexp.MustCompile(`Leaderboard +(http://[^/]+)/`).FindStringSubmatch(d.printed)
		if url == nil || strings.Contains(d.printed, "ADMIN_TOKEN") {
			t.Fatalf("with %s the demo prints no address, or the token:\n%s", setting, d.printed)
		}
		clients := []string{setting, "LEVELBOARD_URL=" + url[1]}
		if out := succeed(t, clients, "", "guild", "list"); !strings.Contains(out, "demo") {
			t.Errorf("with %s guild list lacks the demo's guild:\n%s", setting, out)
		}
		if out := succeed(t, clients, "", "key", "list"); !strings.Contains(out, "demo") {
			t.Errorf("with %s key list lacks the demo's key:\n%s", setting, out)
		}
		if said := d.end(t); said != "" {
			t.Errorf("with %s the standard error is %q, want nothing", setting, said)
		}
	}
}
