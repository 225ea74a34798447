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

// runningDemo is a demo that has said what there is to see.
type runningDemo struct {
	printed string
	stderr  bytes.Buffer // to be read when it has ended
	ctx     context.Context
	stop    context.CancelFunc
	ended   chan struct{}
	code    int // when it has ended
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

// end stops it and returns what it wrote to standard error.
func (d *runningDemo) end(t *testing.T) string {
	t.Helper()
	d.stop()
	<-d.ended
	if d.code != exitOK {
		t.Errorf("exit code %d\n%s", d.code, d.stderr.String())
	}
	return d.stderr.String()
}

const aboutClients = "To use the commands guild and key on it, set the same LEVELBOARD_ADMIN_TOKEN for the demo and for them.\n"

func TestDemoPrintsCallsThatWorkAndIsAlive(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	// What the environment says about stores, limits and directories must not reach the demo.
	d := startDemo(t, []string{
		"LEVELBOARD_REDIS_URL=redis://nowhere.invalid", "LEVELBOARD_POSTGRES_URL=postgres://nowhere.invalid/x", "LEVELBOARD_POSTGRES_URL=postgres://elsewhere.invalid/x",
		"LEVELBOARD_REDIS_WAIT_REPLICAS=1", "LEVELBOARD_REDIS_CA_FILE=/nowhere", "LEVELBOARD_REDIS_SENTINEL_PASSWORD=secret", "LEVELBOARD_DATA_DIR=/nowhere",
		"LEVELBOARD_RATE_LIMIT_IDENTITY=1", "LEVELBOARD_RATE_LIMIT_KEY=1", "LEVELBOARD_PUBLIC_URL=https://nowhere.invalid", "LEVELBOARD_OAUTH_CLIENT_ID=",
	}, "--members", "250", "--rate", "100")
	if !strings.Contains(d.printed, aboutClients) {
		t.Errorf("it does not say how other commands get at it:\n%s", d.printed)
	}

	calls := linesWith(d.printed, "curl ")
	if len(calls) != 3 {
		t.Fatalf("%d calls to paste:\n%s", len(calls), d.printed)
	}
	board := func() (total int64, entries int) {
		status, body := paste(t, calls[0])
		var page struct {
			Levels []struct{ XP int64 }
			Vanity string
		}
		if err := json.Unmarshal([]byte(body), &page); status != http.StatusOK || err != nil || page.Vanity != "demo" {
			t.Fatalf("%s: %d %s", calls[0], status, body)
		}
		for _, l := range page.Levels {
			total += l.XP
		}
		return total, len(page.Levels)
	}
	before, entries := board()
	if entries != 100 {
		t.Errorf("%d entries on the first page", entries)
	}

	var member struct{ Level struct{ Rank, XP int64 } }
	if status, body := paste(t, calls[1]); status != http.StatusOK || json.Unmarshal([]byte(body), &member) != nil || member.Level.Rank < 1 {
		t.Errorf("%s: %d %s", calls[1], status, body)
	}
	var raised struct{ Level struct{ XP int64 } }
	if status, body := paste(t, calls[2]); status != http.StatusOK || json.Unmarshal([]byte(body), &raised) != nil || raised.Level.XP < member.Level.XP+25 {
		t.Errorf("%s: %d %s after %d XP", calls[2], status, body, member.Level.XP)
	}

	// 25 XP of the increase are ours; the members must make the rest while we look.
	for now := before; now <= before+25; now, _ = board() {
		if d.ctx.Err() != nil {
			t.Fatal("the board does not change")
		}
	}

	if said := d.end(t); said != "" {
		t.Errorf("standard error: %q", said)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind in the temporary directory: %v, %v", left, err)
	}
}

func TestDemoHasAHistory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d := startDemo(t, []string{"LEVELBOARD_SNAPSHOT_INTERVAL=500ms"}, "--members", "300")
	url := regexp.MustCompile(`Leaderboard +(http://[^/]+)/`).FindStringSubmatch(d.printed)[1] + "/v2/levels/demo"
	get := func(path string, into any) {
		t.Helper()
		answer, err := testenv.Send(d.ctx, nil, "GET", url+path, "")
		if err != nil || answer.Status != 200 || json.Unmarshal(answer.Body, into) != nil {
			t.Fatalf("%s: %v, %d %s", path, err, answer.Status, answer.Body)
		}
	}
	for _, kind := range []string{"week", "month", "season"} {
		var board struct{ Levels []struct{ Gained int64 } }
		if get("?page=1&period="+kind, &board); len(board.Levels) < 3 || board.Levels[0].Gained < board.Levels[2].Gained {
			t.Errorf("the running %s has %d members on its first page", kind, len(board.Levels))
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
					t.Errorf("%s has %d winners", p.ID, len(p.Winners))
				}
			}
			select {
			case <-d.ctx.Done():
				t.Fatalf("only %d periods of the kind %s have closed", closed, kind)
			case <-time.After(500 * time.Millisecond):
			}
		}
	}
	var activity struct{ Days []struct{ Members int } }
	if get("/activity?days=100", &activity); len(activity.Days) < 60 {
		t.Errorf("%d days are active", len(activity.Days))
	}
	d.end(t)
}

func TestDemoTakesAnAdminToken(t *testing.T) {
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
			t.Fatalf("%s: printed\n%s", setting, d.printed)
		}
		clients := []string{setting, "LEVELBOARD_URL=" + url[1]}
		if out := succeed(t, clients, "", "guild", "list"); !strings.Contains(out, "demo") {
			t.Errorf("%s: guild list:\n%s", setting, out)
		}
		if out := succeed(t, clients, "", "key", "list"); !strings.Contains(out, "demo") {
			t.Errorf("%s: key list:\n%s", setting, out)
		}
		if said := d.end(t); said != "" {
			t.Errorf("%s: standard error: %q", setting, said)
		}
	}
}
