package httpapi

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/cors"

	"levelboard/internal/http/edge"
)

// observe gives the request its id, its time and its patience, measures it and writes its line to the log. A client's own
// X-Request-Id is not taken over: it would let anybody write into our log. For a stream the time is up to where it begins.
func (a *api) observe(c *gin.Context) {
	s, end := a.begin(c)
	defer end()
	ctx := c.Request.Context()
	requestsInFlight.Inc()
	defer requestsInFlight.Dec()
	c.Header("X-Request-Id", s.ID)
	c.Header("X-Content-Type-Options", "nosniff")
	c.Next()
	took := time.Since(s.Began)
	if !s.streamed.IsZero() {
		took = s.streamed.Sub(s.Began)
	}
	route, method, status := edge.Route(c), edge.Method(c), c.Writer.Status()
	if status >= http.StatusInternalServerError && s.Connection.Err() != nil {
		status = clientGone
	}
	a.measured(ctx, requestDuration.WithLabelValues(route, method, strconv.Itoa(status)), took.Seconds())
	requestSize.WithLabelValues(route).Observe(float64(max(c.Request.ContentLength, 0)))
	responseSize.WithLabelValues(route).Observe(float64(max(c.Writer.Size(), 0)))
	if a.log.Enabled(ctx, slog.LevelDebug) {
		a.log.DebugContext(ctx, "request", "method", c.Request.Method, "route", route, "status", status, "took", took)
	}
}

// clientGone stands in metrics and logs for a failure after the client had closed the connection: most
// likely it failed for that.
const clientGone = 499

// crossOrigin lets pages of other origins read /v2, without credentials.
func (a *api) crossOrigin(c *gin.Context) { a.cors.HandlerFunc(c.Writer, c.Request) }

// noStore keeps what only the operator may see out of every cache.
func noStore(c *gin.Context) { c.Header("Cache-Control", "no-store") }

// isPreflight is how the browsers' standard tells a preflight from other OPTIONS requests.
func isPreflight(c *gin.Context) bool {
	h := c.Request.Header
	return c.Request.Method == http.MethodOptions && h.Get("Origin") != "" && h.Get("Access-Control-Request-Method") != ""
}

func newCORS(origins []string) *cors.Cors {
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead},
		// Without credentials no header does harm, and a list of names would be taken only in the order and case of browsers.
		AllowedHeaders: []string{"*"},
		ExposedHeaders: []string{"ETag", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"},
		MaxAge:         3600,
		// The chain continues after a preflight, so that it is charged and carries the limits' headers like everything else.
		OptionsPassthrough: true,
	})
}
