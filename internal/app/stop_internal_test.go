package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"levelboard/internal/config"
	"levelboard/internal/testing/testenv"
)

// Background work that does not end must leave time for the last snapshot: an embedded service would lose changes.
func TestWorkThatHangsLeavesTimeForTheLastSnapshot(t *testing.T) {
	environ := []string{
		"LEVELBOARD_DATA_DIR=" + t.TempDir(), "LEVELBOARD_LISTEN=127.0.0.1:0", "LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_SNAPSHOT_INTERVAL=1h",
	}
	run := func() *App {
		t.Helper()
		cfg, _, err := config.Load(environ)
		if err != nil {
			t.Fatal(err)
		}
		a := New(cfg, Options{Logger: slog.New(slog.DiscardHandler)})
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return a
	}
	const members = "/admin/guilds/100000000000000001/members"
	a := run()
	send(t, a, http.MethodPut, "/admin/guilds/100000000000000001", `{"name":"a","memberCount":1,"ownerId":"100000000000000002"}`)
	send(t, a, http.MethodPut, members, `{"mode":"set","members":[{"userId":"100000000000000003","xp":5}]}`)
	end := make(chan struct{})
	defer close(end)
	a.background.Go(func() { <-end })
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
	defer cancel()
	if err := a.Stop(ctx); err != nil {
		t.Fatalf("the stop failed: %v", err)
	}
	a = run()
	defer func() { _ = a.Stop(context.WithoutCancel(t.Context())) }()
	send(t, a, http.MethodPut, members, `{"mode":"missing","members":[{"userId":"100000000000000003","xp":9}]}`, `"unchanged"`)
}

// send sends a request as the operator. The answer must contain these parts.
func send(t *testing.T, a *App, method, path, body string, parts ...string) {
	t.Helper()
	answer, err := testenv.Send(t.Context(), nil, method, a.URL()+path, body, "Authorization", "Bearer "+a.AdminToken())
	if err != nil || answer.Status >= 300 {
		t.Fatalf("%s is %d %s (%v), want success", path, answer.Status, answer.Body, err)
	}
	for _, part := range parts {
		if !strings.Contains(fmt.Sprint(answer.Header, string(answer.Body)), part) {
			t.Errorf("%s lacks %q: %s", path, part, answer.Body)
		}
	}
}
