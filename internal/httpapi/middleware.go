package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/cors"
)

const requestIDKey = "levelboard.requestID"

func requestID(c *gin.Context) string { return c.GetString(requestIDKey) }

// observe gives the request its id, measures it and writes its line to the log. A client's own X-Request-Id is not taken
// over: it would let anybody write into our log.
func (a *API) observe(c *gin.Context) {
	began := time.Now()
	requestsInFlight.Inc()
	defer requestsInFlight.Dec()
	c.Set(requestIDKey, rand.Text())
	c.Header("X-Request-Id", requestID(c))
	c.Header("X-Content-Type-Options", "nosniff")
	c.Next()
	took := time.Since(began)
	route, status := routeLabel(c), c.Writer.Status()
	if answered, streamed := c.Get(answeredKey); streamed {
		took = answered.(time.Time).Sub(began)
	}
	requestDuration.WithLabelValues(route, methodLabel(c.Request.Method), strconv.Itoa(status)).Observe(took.Seconds())
	if a.log.Enabled(c.Request.Context(), slog.LevelDebug) {
		a.log.Debug("request", "requestId", requestID(c), "method", c.Request.Method, "route", route, "status", status, "took", took)
	}
}

// routeLabel is the pattern, so that no id gets into a metric.
func routeLabel(c *gin.Context) string {
	if route := c.FullPath(); route != "" {
		return route
	}
	return "none"
}

// methodLabel keeps invented methods from making new series.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// recover answers a panic with a 500 and logs where it was. Gin's own would log the headers, and with them the API key.
func (a *API) recover(c *gin.Context) {
	defer func() {
		if panicked := recover(); panicked != nil {
			if panicked == http.ErrAbortHandler {
				panic(panicked)
			}
			a.fail(c, fmt.Errorf("panic: %v\n%s", panicked, debug.Stack()))
		}
	}()
	c.Next()
}

// deadline is for a stream up to where it begins.
func deadline(c *gin.Context) {
	if isStream(c) {
		c.Set(connectionKey, c.Request.Context())
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), requestTime)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// crossOrigin lets pages of other origins read /v2, without credentials.
func (a *API) crossOrigin(c *gin.Context) {
	a.cors.HandlerFunc(c.Writer, c.Request)
}

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
		AllowedHeaders: []string{keyHeader, "If-None-Match", lastEventHeader},
		ExposedHeaders: []string{"ETag", "Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"},
		MaxAge:         3600,
		// The chain goes on after a preflight, so that it is charged and carries the limits' headers like everything else.
		OptionsPassthrough: true,
	})
}
