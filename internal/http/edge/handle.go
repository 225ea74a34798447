package edge

import (
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
)

// Handler is a route's function. Its error becomes the answer, so it writes only when it succeeds.
type Handler func(c *gin.Context) error

// Handle runs a handler, and calls fail with its error.
func Handle(h Handler, fail func(*gin.Context, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			fail(c, err)
		}
	}
}

// Get routes GET, and HEAD, for which net/http drops the body.
func Get(r gin.IRouter, path string, h ...gin.HandlerFunc) {
	r.GET(path, h...)
	r.HEAD(path, h...)
}

// Recover calls fail for a panic, with its stack. Gin's own would log the headers, which may hold an API key.
func Recover(fail func(*gin.Context, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			if panicked := recover(); panicked != nil {
				if panicked == http.ErrAbortHandler {
					panic(panicked)
				}
				fail(c, fmt.Errorf("panic: %v\n%s", panicked, debug.Stack()))
			}
		}()
		c.Next()
	}
}

// Fail handles any failed request and returns the fault to answer. It logs a failure of the
// service, unless the client is gone and may be the reason. It sets Retry-After and ends the chain.
func Fail(c *gin.Context, log *slog.Logger, err error) *fault.Error {
	f := fault.From(err)
	if f.Code == fault.Internal || f.Code.Status() >= http.StatusInternalServerError && Of(c).Connection.Err() == nil {
		logFailure(c, log, f, err)
	}
	if f.Code == fault.RateLimited || f.Code == fault.Unavailable {
		c.Header("Retry-After", strconv.FormatInt(Wait(f), 10))
	}
	c.Abort()
	return f
}

// logFailure logs a failure of the service. While a store is down every request fails; package logs drops repeated lines.
func logFailure(c *gin.Context, log *slog.Logger, f *fault.Error, err error) {
	level, message := slog.LevelError, "request failed unexpectedly; please report it"
	if f.Code == fault.Unavailable {
		level, message = slog.LevelWarn, "request refused: a store does not answer, or there are too many requests; look at /readyz?verbose and the error"
	}
	log.Log(c.Request.Context(), level, message, "method", Method(c), "route", Route(c), "status", f.Code.Status(), "error", err)
}

// Wait returns after how many seconds a client may try again, at least 1.
func Wait(f *fault.Error) int64 { return max(Seconds(f.RetryAfter), 1) }

// Seconds rounds up to whole seconds.
func Seconds(d time.Duration) int64 { return int64(math.Ceil(max(d, 0).Seconds())) }

// Route returns the pattern of the route, so that metrics contain no ids.
func Route(c *gin.Context) string {
	if route := c.FullPath(); route != "" {
		return route
	}
	return "none"
}

// Method returns the method. Unknown ones become one value, so that clients cannot create new series.
func Method(c *gin.Context) string {
	switch method := c.Request.Method; method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// Query parses the query. The error says that it cannot be decoded. twice names a parameter that is given more than once.
func Query(c *gin.Context) (values url.Values, twice string, err error) {
	if c.Request.URL.RawQuery == "" {
		return nil, "", nil
	}
	values, err = url.ParseQuery(c.Request.URL.RawQuery)
	for name, given := range values {
		if len(given) > 1 {
			twice = name
		}
	}
	return values, twice, err
}
