package httpapi

import (
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
)

const jsonType = "application/json"

// handler is what a route runs. What it returns becomes the answer, so a handler writes only when it succeeds.
type handler func(c *gin.Context) error

func (a *api) handle(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			a.fail(c, err)
		}
	}
}

// fail answers with the fault's status and public message, logs the cause of what is our own doing, and ends the chain.
func (a *api) fail(c *gin.Context, err error) {
	f := fault.From(err)
	status := f.Code.Status()
	if status >= http.StatusInternalServerError && (f.Code == fault.Internal || stateOf(c).connection.Err() == nil) {
		a.logFailure(c, f.Code, status, err)
	}
	if f.Code == fault.RateLimited || f.Code == fault.Unavailable {
		c.Header("Retry-After", strconv.FormatInt(max(wholeSeconds(f.RetryAfter), 1), 10))
	}
	// The answer may have been given headers before it was refused.
	for _, name := range []string{"ETag", "Content-Encoding"} {
		c.Writer.Header().Del(name)
	}
	// A refusal depends on the key and changes without notice.
	c.Header("Cache-Control", "private, no-store")
	c.Header("Vary", varyKey)
	c.Abort()
	_ = answer(c, status, struct { // too short to be refused
		Message string `json:"message"`
	}{f.Message})
	if status < http.StatusInternalServerError && f.Code != fault.RateLimited {
		takeRest(c)
	}
}

// logFailure logs what is our own doing. While a store is away that is every request; package logs holds the lines back.
func (a *api) logFailure(c *gin.Context, code fault.Code, status int, err error) {
	level, message := slog.LevelError, "request failed in a way that nobody expected; please report it"
	if code == fault.Unavailable {
		level, message = slog.LevelWarn, "request refused: a store does not answer, or there are too many requests; look at /readyz?verbose and the error"
	}
	a.log.Log(c.Request.Context(), level, message, "method", methodLabel(c.Request.Method), "route", routeLabel(c), "status", status, "error", err)
}

// answer encodes the body and answers with it.
func answer(c *gin.Context, status int, body any) error {
	encoded, err := encode(body)
	if err != nil {
		return err
	}
	return write(c, status, encoded)
}

// answerPrivate is for answers that depend on the key, and may be kept by the caller and checked each time.
func answerPrivate(c *gin.Context, body any) error {
	c.Header("Cache-Control", privateNoCache)
	c.Header("Vary", varyKey)
	return answer(c, http.StatusOK, body)
}

func noContent(c *gin.Context, err error) error {
	if err == nil {
		c.Status(http.StatusNoContent)
	}
	return err
}

// write answers with JSON.
func write(c *gin.Context, status int, encoded []byte) error {
	return writeAs(c, status, jsonType, encoded)
}

// writeAs answers with a body of a media type. The error is that of a caller who leaves too much unread. The length keeps net/http from
// sending a large body in chunks.
func writeAs(c *gin.Context, status int, mediaType string, body []byte) error {
	if err := counted(c, len(body)); err != nil {
		return err
	}
	c.Header("Content-Type", mediaType)
	c.Header("Content-Length", strconv.Itoa(len(body)))
	stateOf(c).release()
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body) // the client is gone; there is nobody to tell
	return nil
}

// Values of Vary and Cache-Control.
const (
	varyKey        = "Origin, " + keyHeader
	varyOpen       = "Origin, Accept-Encoding"
	varyPage       = "Origin, Accept-Encoding, " + keyHeader
	noCache        = "no-cache"
	forAYear       = "max-age=31536000, immutable"
	privateNoCache = "private, " + noCache
)

// encode writes JSON. Bytes that are not UTF-8 are replaced.
func encode(body any) ([]byte, error) { return json.Marshal(body, jsontext.AllowInvalidUTF8(true)) }

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) int64 { return int64(math.Ceil(max(d, 0).Seconds())) }
