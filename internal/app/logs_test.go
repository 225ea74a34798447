package app_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"levelboard/internal/testing/testenv"
)

// journal keeps a service's log, a map for each line.
type journal struct {
	mu    sync.Mutex
	lines []map[string]any
}

func (j *journal) Write(line []byte) (int, error) {
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fields)
	return len(line), nil
}

func (j *journal) handler(level slog.Level) slog.Handler {
	return slog.NewJSONHandler(j, &slog.HandlerOptions{Level: level})
}

// with returns the lines that begin with this message.
func (j *journal) with(message string) (found []map[string]any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, line := range j.lines {
		if text, _ := line["msg"].(string); strings.HasPrefix(text, message) {
			found = append(found, line)
		}
	}
	return found
}

// Each log line of a request, also from deep in the code, has the request id of its answer and no secret.
func TestLinesOfARequestNameIt(t *testing.T) {
	t.Parallel()
	var log journal
	s := run(t, newLogging(t, log.handler(slog.LevelDebug), onDataDir(t)...))
	g := s.guild(nil)
	key := s.key(g)
	asked := s.Do("GET", memberPath(g, newID()), key, nil).Want(t, 404).Header.Get("X-Request-Id")
	if len(asked) < 20 {
		t.Fatalf("X-Request-Id is %q", asked)
	}
	// The first request for a guild loads it.
	if lines := log.with("guild loaded"); len(lines) != 1 || lines[0]["requestId"] != asked {
		t.Errorf("for the request %s the log has %v", asked, lines)
	}
	found := 0
	for _, line := range log.with("request") {
		if line["requestId"] == asked {
			found++
			if line["level"] != "DEBUG" || line["route"] != "/v2/levels/:entry/users/:userId" || line["status"] != 404.0 {
				t.Errorf("its line is %v", line)
			}
		}
	}
	if found != 1 {
		t.Errorf("it has %d lines of its own", found)
	}
	for _, line := range log.with("") {
		if text := jsonText(t, line); strings.Contains(text, key) || strings.Contains(text, s.token) {
			t.Errorf("a secret is in %s", text)
		}
	}
}

// While Redis is away, the common reason of all failures is logged in a few lines, not in one for each request.
func TestFailuresAreAFewLines(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	var log journal
	s := run(t, newLogging(t, log.handler(slog.LevelInfo),
		"LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t), often))
	g := s.guild(nil)
	s.board("", g, 1)
	server.Kill()
	var failed []string
	for range 200 {
		got, err := s.quick("GET", boardPath(g, 1), "", "")
		if err != nil || got.Status != 503 {
			t.Fatalf("status %d, %v", got.Status, err)
		}
		failed = append(failed, got.Header.Get("X-Request-Id"))
	}
	lines := log.with("request refused")
	if len(lines) < 10 || len(lines) > 50 {
		t.Errorf("200 requests that failed are %d lines", len(lines))
	}
	for i, line := range lines[:min(10, len(lines))] {
		if line["requestId"] != failed[i] || line["level"] != "WARN" || line["notLoggedBefore"] != nil {
			t.Errorf("line %d is %v, want one of %s", i, line, failed[i])
		}
	}
	testenv.Wait(t, "the writer says that it cannot read from Redis", func() bool {
		return len(log.with("the changed guilds could not be read")) > 0
	})
	server.Start()
	testenv.Wait(t, "the writer says that it can again", func() bool { return len(log.with("the changed guilds are read")) > 0 })
	if lines := log.with("the changed guilds could not be read"); len(lines) != 1 {
		t.Errorf("that it could not is said %d times", len(lines))
	}
}
