package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A service that is not ready says why. Another program's answer is not quoted.
func TestHealthcheckSaysTheReason(t *testing.T) {
	for answer, want := range map[string]string{
		"not ready: redis: it does not answer in time\n": "not ready: redis: it does not answer in time\n",
		"not ready: the service is starting\n":           "not ready: the service is starting\n",
		"not ready: \x1b[2Jcleared\n":                    "answered 503 Service Unavailable",
		"<html>Service Unavailable</html>":               "answered 503 Service Unavailable",
		"not ready: " + strings.Repeat("x", 1<<20):       "not ready: xxx",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/readyz" {
				t.Errorf("healthcheck requests %s, want /readyz", r.URL.Path)
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(answer))
		}))
		r := run(t, []string{"LEVELBOARD_OPS_LISTEN=" + server.Listener.Addr().String()}, "", "healthcheck")
		said := r.stderr
		if r.code != exitFailed || !strings.Contains(said, want) {
			t.Errorf("healthcheck exits with %d and %q, want %d and %q", r.code, said, exitFailed, want)
		}
		if len(said) > 2000 || strings.Contains(said, "\x1b") || strings.Contains(said, "html") {
			t.Errorf("healthcheck repeats %d bytes of the answer: %.100q", len(said), said)
		}
		server.Close()
	}
}
