// Package service runs the whole service in the test's process, on servers of its own.
package service

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"testing"

	"levelboard/internal/app"
	"levelboard/internal/config"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/testenv"
)

// AdminToken is the operator's token.
const AdminToken = "an-operators-token-of-enough-length"

// Start runs the service on Redis and Postgres, without rate limits, until the test ends. Settings in environ override these.
func Start(tb testing.TB, environ ...string) *app.App {
	tb.Helper()
	return StartOn(tb, testenv.Redis(tb), environ...)
}

// StartOn is [Start] on the given Redis.
func StartOn(tb testing.TB, redis *testenv.RedisServer, environ ...string) *app.App {
	tb.Helper()
	return start(tb, slices.Concat([]string{
		"LEVELBOARD_REDIS_URL=" + redis.URL(), "LEVELBOARD_POSTGRES_URL=" + postgrestest.URL(tb), "LEVELBOARD_REDIS_TIMEOUT=5s",
	}, environ)...)
}

// Embedded runs the service without servers until the test ends. Settings in environ override the defaults.
func Embedded(tb testing.TB, environ ...string) *app.App {
	tb.Helper()
	return start(tb, append([]string{"LEVELBOARD_DATA_DIR=" + tb.TempDir()}, environ...)...)
}

func start(tb testing.TB, environ ...string) *app.App {
	tb.Helper()
	cfg, _, err := config.Load(append([]string{
		"LEVELBOARD_LISTEN=127.0.0.1:0", "LEVELBOARD_OPS_LISTEN=127.0.0.1:0", "LEVELBOARD_ADMIN_TOKEN=" + AdminToken,
		"LEVELBOARD_RATE_LIMIT_KEY=0", "LEVELBOARD_RATE_LIMIT_IDENTITY=0",
	}, environ...))
	if err != nil {
		tb.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	running := app.New(cfg, app.Options{Logger: log, Version: "1.0.0"})
	if err := running.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), testenv.Patience)
		defer cancel()
		if err := running.Stop(ctx); err != nil {
			tb.Errorf("stopping the service: %v", err)
		}
	})
	return running
}
