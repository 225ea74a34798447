package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestDemoPrintsCallsThatWorkAndIsAlive(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		// What the environment says about stores, limits and directories must not reach the demo.
		code <- Run(ctx, []string{"demo", "--listen", "127.0.0.1:0", "--members", "250", "--rate", "100"}, Environment{strings.NewReader(""), in, os.Stderr, []string{
			"LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_REDIS_URL=redis://nowhere.invalid", "LEVELBOARD_POSTGRES_URL=postgres://nowhere.invalid/x",
			"LEVELBOARD_REDIS_WAIT_REPLICAS=1", "LEVELBOARD_REDIS_CA_FILE=/nowhere", "LEVELBOARD_REDIS_SENTINEL_PASSWORD=secret", "LEVELBOARD_ADMIN_TOKEN_FILE=/nowhere",
			"LEVELBOARD_RATE_LIMIT_IDENTITY=1", "LEVELBOARD_RATE_LIMIT_KEY=1", "LEVELBOARD_PUBLIC_URL=https://nowhere.invalid",
		}})
		in.Close()
	}()
	var text strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "Ctrl+C") {
		text.WriteString(lines.Text() + "\n")
	}
	go io.Copy(io.Discard, out)

	calls := linesWith(text.String(), "curl ")
	if len(calls) != 3 {
		t.Fatalf("%d calls to paste:\n%s", len(calls), text.String())
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
		if ctx.Err() != nil {
			t.Fatal("the board does not change")
		}
	}

	stop()
	if got := <-code; got != exitOK {
		t.Errorf("exit code %d", got)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind in the temporary directory: %v, %v", left, err)
	}
}
