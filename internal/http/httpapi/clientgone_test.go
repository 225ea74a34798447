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

// A failure that nobody heard of is not one of the service; an answer that was made in time is what it is.
func TestAClientThatHungUpIsNoFailure(t *testing.T) {
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
					t.Errorf("counted with status %d: %v, want status %d", status, counted, c.want)
				}
			}
		})
	}
}

// A request that took too long has failed, traced or not: its client has waited for it.
func TestARequestWhoseTimeIsOverHasFailed(t *testing.T) {
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
						t.Errorf("counted with status %d: %v", status, counted)
					}
				}
				if logged.Len() == 0 {
					t.Error("there is no line of it in the log")
				}
			})
		})
	}
}
