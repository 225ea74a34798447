package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/platform/tracing"
)

// untraced is an API with tracing off, and a context of one request.
func untraced(t testing.TB) (*api, *gin.Context) {
	gin.SetMode(gin.ReleaseMode)
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	return &api{}, c
}

var timing = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "durations", Help: "Of a test."})

func TestOffCostsNothing(t *testing.T) {
	a, c := untraced(t)
	if steps := a.traced(); len(steps) > 0 {
		t.Errorf("there are %d steps", len(steps))
	}
	if n := testing.AllocsPerRun(100, func() { a.measured(c.Request.Context(), timing, 0.1) }); n > 0 {
		t.Errorf("measuring allocates %v times", n)
	}
}

// BenchmarkMeasured shows what tracing costs that is off, against a plain Observe.
func BenchmarkMeasured(b *testing.B) {
	a, c := untraced(b)
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			timing.Observe(0.1)
		}
	})
	b.Run("off", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a.measured(c.Request.Context(), timing, 0.1)
		}
	})
}

// BenchmarkTrace shows what the span of a request costs when there is none, when the sampler leaves it out, and when it is kept
// (and mostly dropped by a full queue).
func BenchmarkTrace(b *testing.B) {
	gin.SetMode(gin.ReleaseMode)
	for name, environ := range map[string][]string{
		"off":      nil,
		"left out": {"OTEL_TRACES_EXPORTER=otlp", "OTEL_TRACES_SAMPLER=always_off"},
		"kept":     {"OTEL_TRACES_EXPORTER=otlp"},
	} {
		b.Run(name, func(b *testing.B) {
			for _, variable := range environ {
				name, value, _ := strings.Cut(variable, "=")
				b.Setenv(name, value)
			}
			on := tracing.Start(b.Context(), "", slog.New(slog.DiscardHandler))
			ended, cancel := context.WithCancel(b.Context())
			cancel()
			defer on.Stop(ended)
			engine := gin.New()
			engine.Use((&api{deps: Deps{Tracer: on.Tracer()}}).traced()...)
			engine.GET("/", func(*gin.Context) {})
			request, answer := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil), httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				engine.ServeHTTP(answer, request)
			}
		})
	}
}
