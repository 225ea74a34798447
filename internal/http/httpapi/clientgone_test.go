package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/trace/noop"

	"levelboard/internal/domain/fault"
)

// If the client is gone, a failure does not count as the service's. An answer made in time keeps its status.
func TestADisconnectedClientIsNoFailure(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	for _, c := range []struct {
		name         string
		status, want int
		leaves       bool
	}{{"failed", 503, 503, false}, {"gone", 503, clientGone, true}, {"answered", 200, 200, true}, {"refused", 404, 404, true}} {
		t.Run(c.name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			a := &api{log: slog.New(slog.DiscardHandler)}
			router := gin.New()
			route := "/test-of-hanging-up/" + c.name
			router.GET(route, a.observe, func(g *gin.Context) {
				if c.leaves {
					leave()
				}
				g.Status(c.status)
			})
			router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", route, nil))
			for status := range map[int]bool{c.status: true, c.want: true} {
				counted := requestDuration.DeleteLabelValues(route, "GET", strconv.Itoa(status))
				if counted != (status == c.want) {
					t.Errorf("counted with status %d: %v, want only status %d", status, counted, c.want)
				}
			}
		})
	}
}

// A request that exceeds its time is a failure, traced or not, because its client waited.
func TestARequestOverItsTimeIsAFailure(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	for _, traced := range []bool{false, true} {
		t.Run(fmt.Sprintf("traced=%v", traced), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var logged bytes.Buffer
				a := &api{log: slog.New(slog.NewTextHandler(&logged, nil))}
				if traced {
					a.deps.Tracer = noop.NewTracerProvider().Tracer("")
				}
				router := gin.New()
				router.Use(a.traced()...)
				route := fmt.Sprintf("/test-of-time/%v", traced)
				router.GET(route, a.observe, a.writes(func(r *request) error {
					<-r.ctx.Done()
					return fault.Down("read", r.ctx.Err())
				}))
				router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", route, nil))
				for status, want := range map[int]bool{503: true, clientGone: false} {
					if counted := requestDuration.DeleteLabelValues(route, "GET", strconv.Itoa(status)); counted != want {
						t.Errorf("counted with status %d: %v, want %v", status, counted, want)
					}
				}
				if logged.Len() == 0 {
					t.Error("the failure is not logged")
				}
			})
		})
	}
}
