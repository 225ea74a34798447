package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/platform/metrics"
	"levelboard/internal/usecase/snapshot"
)

func scrape(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	answer := httptest.NewRecorder()
	metrics.Handler(registry).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("scraping: status %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

func TestTheRegistryHasTheBuild(t *testing.T) {
	text := scrape(t, metrics.NewRegistry("v1.2.3"))
	for _, want := range []string{
		`levelboard_build_info{go_version="` + runtime.Version() + `",version="v1.2.3"} 1`, "\ngo_goroutines ", "\nprocess_start_time_seconds ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %q:\n%s", want, text)
		}
	}
}

// Two services in one process, as in tests, have separate registries without the global one's metrics.
func TestRegistriesAreSeparate(t *testing.T) {
	global := prometheus.NewCounter(prometheus.CounterOpts{Name: "of_a_library_total", Help: "Registered by somebody else."})
	prometheus.MustRegister(global)
	t.Cleanup(func() { prometheus.Unregister(global) })
	one, two := metrics.NewRegistry("1"), metrics.NewRegistry("2")
	one.MustRegister(snapshot.Collectors()...)
	two.MustRegister(snapshot.Collectors()...)
	if text := scrape(t, one); !strings.Contains(text, "levelboard_snapshot_members_total") || strings.Contains(text, "of_a_library_total") || strings.Contains(text, `version="2"`) {
		t.Errorf("the first registry has the metrics of another one:\n%s", text)
	}
}
