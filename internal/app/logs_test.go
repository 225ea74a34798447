package app_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"levelboard/internal/testing/testenv"
)

// journal collects a service's log, a map for each line.
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

// with returns the lines whose message begins with message.
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

// Each log line of a request has the request id of the answer and no secret, even when logged deep in the code.
func TestLinesOfARequestNameIt(t *testing.T) {
	t.Parallel()
	var log journal
	s := run(t, newLogging(t, log.handler(slog.LevelDebug), onDataDir(t)...))
	g := s.guild(nil)
	key := s.key(g)
	asked := s.Do("GET", memberPath(g, newID()), key, nil).Want(t, 404).Header.Get("X-Request-Id")
	if len(asked) < 20 {
		t.Fatalf("X-Request-Id is %q, want 20 characters or more", asked)
	}
	// The first request for a guild loads it.
	if lines := log.with("guild loaded"); len(lines) != 1 || lines[0]["requestId"] != asked {
		t.Errorf("the log has %v, want one line \"guild loaded\" of the request %s", lines, asked)
	}
	found := 0
	for _, line := range log.with("request") {
		if line["requestId"] == asked {
			found++
			if line["level"] != "DEBUG" || line["route"] != "/v2/levels/:entry/users/:userId" || line["status"] != 404.0 {
				t.Errorf("the request's line is %v, want DEBUG with its route and status 404", line)
			}
		}
	}
	if found != 1 {
		t.Errorf("the request has %d lines of its own, want 1", found)
	}
	for _, line := range log.with("") {
		if text := jsonText(t, line); strings.Contains(text, key) || strings.Contains(text, s.token) {
			t.Errorf("a log line contains a secret: %s", text)
		}
	}
}

// While Redis is down, a few lines give the reason that all failures share, not one line for each request.
func TestFailuresOfAnOutageAreLoggedInAFewLines(t *testing.T) {
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
			t.Fatalf("a request without Redis is %d (%v), want 503", got.Status, err)
		}
		failed = append(failed, got.Header.Get("X-Request-Id"))
	}
	lines := log.with("request refused")
	if len(lines) < 10 || len(lines) > 50 {
		t.Errorf("200 failed requests made %d lines, want 10 to 50", len(lines))
	}
	for i, line := range lines[:min(10, len(lines))] {
		if line["requestId"] != failed[i] || line["level"] != "WARN" || line["notLoggedBefore"] != nil {
			t.Errorf("line %d is %v, want a warning of the request %s", i, line, failed[i])
		}
	}
	testenv.Wait(t, "the writer says that it cannot read from Redis", func() bool {
		return len(log.with("the changed guilds could not be read")) > 0
	})
	server.Start()
	testenv.Wait(t, "the writer says that it can again", func() bool { return len(log.with("the changed guilds are read")) > 0 })
	if lines := log.with("the changed guilds could not be read"); len(lines) != 1 {
		t.Errorf("%d lines say that the changed guilds could not be read, want 1", len(lines))
	}
}
