package clients

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const adminToken = "a-token-of-the-clients-check-and-of-nothing-else"

// start runs an embedded service until the test ends, and returns a client with these headers.
func start(t *testing.T, headers map[string]string) *ClientWithResponses {
	t.Helper()
	binary := os.Getenv("LEVELBOARD_BIN")
	if binary == "" {
		t.Fatal("LEVELBOARD_BIN does not name the service's binary; run scripts/clients-check")
	}
	address, ops := freeAddress(t), freeAddress(t)
	var log bytes.Buffer
	service := exec.Command(binary, "serve")
	service.Stdout, service.Stderr = &log, &log
	service.Env = append(withoutSettings(), "LEVELBOARD_LISTEN="+address, "LEVELBOARD_OPS_LISTEN="+ops,
		"LEVELBOARD_DATA_DIR="+t.TempDir(), "LEVELBOARD_SNAPSHOT_INTERVAL=200ms", "LEVELBOARD_ADMIN_TOKEN="+adminToken,
		"LEVELBOARD_ALLOWED_PRIVATE_HOSTS=127.0.0.1")
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		service.Process.Signal(os.Interrupt)
		service.Wait()
		if t.Failed() {
			t.Logf("the service's log:\n%s", &log)
		}
	})
	wait(t, func() string {
		answer, err := http.Get("http://" + ops + "/readyz")
		if err != nil {
			return err.Error()
		}
		answer.Body.Close()
		return answer.Status
	}, "200 OK")
	client, err := NewClientWithResponses("http://"+address, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// wait polls ask until it returns want.
func wait(t *testing.T, ask func() string, want string) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if got = ask(); got == want {
			return
		}
	}
	t.Fatalf("the answer is %q, want %q", got, want)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// withoutSettings returns the environment without the service's settings.
func withoutSettings() (environ []string) {
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "LEVELBOARD_") {
			environ = append(environ, setting)
		}
	}
	return environ
}
