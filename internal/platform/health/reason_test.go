package health_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/health"
	"levelboard/internal/testing/testenv"
)

const secret = "aSecretThatNobodySees"

func wantReason(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one for the reason %q", want)
		return
	}
	if got := health.Reason(fmt.Errorf("ping: %w", err)); !strings.Contains(got, want) || strings.Contains(got, secret) {
		t.Errorf("the reason of %q is %q, want %q", err, got, want)
	}
}

// redisError asks a real server, or what is in its place.
func redisError(t *testing.T, url string) error {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries = -1
	client := redis.NewClient(options)
	defer client.Close()
	return client.Ping(t.Context()).Err()
}

func TestReasonsOfRedis(t *testing.T) {
	server := testenv.Redis(t, testenv.WithPassword(secret))
	address := server.Addr()
	wantReason(t, redisError(t, "redis://"+address), "NOAUTH")
	wantReason(t, redisError(t, "redis://:wrong"+secret+"@"+address), "WRONGPASS")
	server.Kill()
	wantReason(t, redisError(t, "redis://:"+secret+"@"+address), "connection refused")
	wantReason(t, redisError(t, "unix:///nowhere/"+secret), "no such file or directory")
}

func TestReasonsOfPostgres(t *testing.T) {
	server := testenv.PostgresServer(t)
	connectError := func(url string) error {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err
	}
	other := strings.Replace(server.URL(), "/postgres", "/nowhere", 1)
	if other == server.URL() {
		t.Fatalf("%s names no database", other)
	}
	wantReason(t, connectError(other), "3D000")
	server.Kill()
	wantReason(t, connectError(server.URL()), "connection refused")
}

func TestOtherReasons(t *testing.T) {
	wantReason(t, context.DeadlineExceeded, "it does not answer in time")
	wantReason(t, errors.New("redis://user:"+secret+"@host"), "it cannot be reached")
}
