package httpapi

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
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
			a := &API{log: slog.New(slog.DiscardHandler)}
			router := gin.New()
			route := "/test-of-hanging-up/" + c.name
			router.GET(route, a.observe, func(g *gin.Context) {
				if c.leaves {
					leave()
				}
				g.Status(c.status)
			})
			router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", route, nil))
			for _, status := range []int{c.status, c.want} {
				_, counted := observed.Load(answer{route: route, method: "GET", status: status})
				if counted != (status == c.want) {
					t.Errorf("counted with status %d: %v, want status %d", status, counted, c.want)
				}
			}
		})
	}
}
