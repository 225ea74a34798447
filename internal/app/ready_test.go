package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
)

// wantNotReady fails unless /readyz names the reason, with and without details.
func (s *service) wantNotReady(reason string) {
	s.t.Helper()
	if text := string(s.ops("/readyz").Want(s.t, 503).Body); text != "not ready: "+reason+"\n" {
		s.t.Errorf("/readyz says %q, want %q", text, reason)
	}
	verbose := s.ops("/readyz?verbose").Want(s.t, 503)
	wantHeader(s.t, verbose, "Content-Type", "application/json")
	if !strings.Contains(string(verbose.Body), `"reason":"`+reason+`"`) {
		s.t.Errorf("/readyz?verbose says %s, want the reason %q", verbose.Body, reason)
	}
}

func TestReadinessFollowsRedis(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, testenv.WithPassword("aSecretThatNobodySees"))
	s := startSilent(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t), soon)
	ready := func() bool { return s.ops("/readyz").Status == 200 }
	testenv.Wait(t, "it is ready", ready)
	up := func(value string) bool {
		return strings.Contains(string(s.ops("/metrics").Want(t, 200).Body), "\nlevelboard_redis_up "+value+"\n")
	}
	testenv.Wait(t, "the metrics say that Redis is there", func() bool { return up("1") })

	server.Pause()
	s.wantNotReady("redis: it does not answer in time")
	server.Resume()
	testenv.Wait(t, "it is ready again", ready)

	server.Kill()
	testenv.Wait(t, "the connections are known to be gone", func() bool {
		return strings.Contains(string(s.ops("/readyz").Body), "refused")
	})
	s.wantNotReady("redis: connection refused")
	for _, path := range []string{"/readyz", "/readyz?verbose", "/metrics"} {
		if body := string(s.ops(path).Body); strings.Contains(body, "aSecretThat") || strings.Contains(body, server.Addr()) {
			t.Errorf("%s contains an address or a secret of Redis: %s", path, body)
		}
	}
	s.ops("/livez").Want(t, 200)
	testenv.Wait(t, "the metrics say that Redis is away", func() bool { return up("0") })

	server.Start()
	testenv.Wait(t, "it is ready again", ready)
	testenv.Wait(t, "the metrics say that Redis is there", func() bool { return up("1") })
}

// /readyz shows the archive's state. A service without its archive is ready.
func TestReadinessOutlivesPostgres(t *testing.T) {
	t.Parallel()
	archive := testenv.PostgresServer(t)
	s := startSilent(t, "LEVELBOARD_REDIS_URL="+testenv.Redis(t).URL(), "LEVELBOARD_POSTGRES_URL="+archive.URL(), often)
	metric := func(line string) func() bool {
		return func() bool {
			return strings.Contains(string(s.ops("/metrics").Want(t, 200).Body), "\nlevelboard_"+line)
		}
	}
	testenv.Wait(t, "the metrics say that it is there", metric("archive_up 1\n"))
	testenv.Wait(t, "this replica writes", metric("snapshot_lease_held 1\n"))
	archive.Kill()
	testenv.Wait(t, "the connections are known to be gone", func() bool {
		return strings.Contains(string(s.ops("/readyz?verbose").Body), "connection refused")
	})
	wantJSON(t, s.ops("/readyz?verbose").Want(t, 200), `{"ready":true,"service":{"state":"running"},"redis":{"state":"ok"},
		"archive":{"state":"unreachable","reason":"connection refused"}}`)
	s.ops("/readyz").Want(t, 200)
	testenv.Wait(t, "the metrics say that it is away", metric("archive_up 0\n"))
	testenv.Wait(t, "nobody writes", metric("snapshot_lease_held 0\n"))
	testenv.Wait(t, "failures are counted", func() bool {
		return !metric("archive_query_errors_total{operation=\"acquire_lease\"} 0\n")()
	})
	archive.Start()
	testenv.Wait(t, "the metrics say that it is there", metric("archive_up 1\n"))
	testenv.Wait(t, "this replica writes again", metric("snapshot_lease_held 1\n"))
	s.ops("/readyz").Want(t, 200)
}

// While a slow database delays the start, the process is live and not ready.
func TestNotReadyWhileStarting(t *testing.T) {
	t.Parallel()
	archive := testenv.PostgresServer(t)
	archive.Pause()
	ops := testenv.FreeAddr(t)
	a := newLogging(t, slog.DiscardHandler, "LEVELBOARD_OPS_LISTEN="+ops,
		"LEVELBOARD_REDIS_URL="+testenv.Redis(t).URL(), "LEVELBOARD_POSTGRES_URL="+archive.URL())
	began := make(chan error, 1)
	go func() { began <- a.Start(t.Context()) }()
	pool := &http.Transport{}
	t.Cleanup(pool.CloseIdleConnections)
	ask := func(path string) string {
		got, err := testenv.Send(t.Context(), &http.Client{Transport: pool}, "GET", "http://"+ops+path, "")
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(got.Status, " ", string(got.Body))
	}
	testenv.Wait(t, "it says that it starts", func() bool { return ask("/readyz") == "503 not ready: the service is starting\n" })
	if got := ask("/livez"); got != "200 ok\n" {
		t.Errorf("while starting /livez is %s, want 200", got)
	}
	if got := ask("/metrics"); !strings.Contains(got, "levelboard_build_info{") {
		t.Errorf("while starting /metrics is %s, want levelboard_build_info in it", got)
	}
	archive.Resume()
	if err := <-began; err != nil {
		t.Fatal(err)
	}
	if got := ask("/readyz"); got != "200 ok\n" {
		t.Errorf("after the start /readyz is %s, want 200", got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testenv.Patience)
	defer cancel()
	if err := a.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// The operators' port closes idle connections, which would take the place of a scrape.
func TestTheOpsPortKeepsNoConnections(t *testing.T) {
	t.Parallel()
	s := start(t, "LEVELBOARD_DATA_DIR="+t.TempDir())
	resp, err := http.Get("http://" + s.app.OpsAddr() + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if !resp.Close {
		t.Error("the operators' port kept an idle connection open")
	}
}
