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

// observe gives the request its id, time and patience, measures it and logs a line about it. It does not adopt a client's
// X-Request-Id, which would let any client write into our log. The time of a stream ends where its answer begins.
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

// clientGone is the status in metrics and logs for a failure after the client closed the connection, which most likely caused it.
const clientGone = 499

// crossOrigin lets pages of other origins read /v2, without credentials.
func (a *api) crossOrigin(c *gin.Context) { a.cors.HandlerFunc(c.Writer, c.Request) }

// noStore keeps the operator's answers out of all caches.
func noStore(c *gin.Context) { c.Header("Cache-Control", "no-store") }

// isPreflight reports whether a request is a preflight, as the browsers' standard defines it.
func isPreflight(c *gin.Context) bool {
	h := c.Request.Header
	return c.Request.Method == http.MethodOptions && h.Get("Origin") != "" && h.Get("Access-Control-Request-Method") != ""
}

func newCORS(origins []string) *cors.Cors {
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead},
		// Without credentials no header does harm. A list of names would have to match the order and case of browsers.
		AllowedHeaders: []string{"*"},
		ExposedHeaders: []string{"ETag", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"},
		MaxAge:         3600,
		// After a preflight the chain continues, so that it is charged and has the limits' headers like all requests.
		OptionsPassthrough: true,
	})
}
