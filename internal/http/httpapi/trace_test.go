package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
)

// untraced returns an API without tracing, and the context of a request.
func untraced(t testing.TB) (*api, *gin.Context) {
	gin.SetMode(gin.ReleaseMode)
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	return &api{}, c
}

var timing = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "durations", Help: "Of a test."})

func TestTracingThatIsOffCostsNothing(t *testing.T) {
	a, c := untraced(t)
	if steps := a.traced(); len(steps) > 0 {
		t.Errorf("tracing that is off adds %d middlewares, want none", len(steps))
	}
	if n := testing.AllocsPerRun(100, func() { a.measured(c.Request.Context(), timing, 0.1) }); n > 0 {
		t.Errorf("measuring a request allocates %v times, want 0", n)
	}
}
