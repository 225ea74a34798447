package httpapi

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
)

const jsonType = "application/json"

// handler reads a request and returns the body of its answer; nil for an answer without one.
type handler func(r *request) (body any, err error)

// json serves a route whose answer is JSON.
func (a *api) json(h handler) gin.HandlerFunc {
	return a.writes(func(r *request) error {
		body, err := h(r)
		if err != nil {
			return err
		}
		if body == nil {
			r.c.Status(http.StatusNoContent)
			return nil
		}
		return answer(r.c, r.status, body)
	})
}

// privateJSON serves answers that depend on the key, and may be kept by the caller and checked each time.
func (a *api) privateJSON(h handler) gin.HandlerFunc {
	return a.json(func(r *request) (any, error) {
		body, err := h(r)
		r.c.Header("Cache-Control", privateNoCache)
		r.c.Header("Vary", varyKey)
		return body, err
	})
}

// writes serves a route that writes its answer itself.
func (a *api) writes(h func(r *request) error) gin.HandlerFunc {
	return edge.Handle(func(c *gin.Context) error { return h(a.read(c)) }, a.fail)
}

// fail answers with the fault's status and public message.
func (a *api) fail(c *gin.Context, err error) {
	f := edge.Fail(c, a.log, err)
	// The answer may have been given headers before it was refused.
	for _, name := range []string{"ETag", "Content-Encoding"} {
		c.Writer.Header().Del(name)
	}
	// A refusal depends on the key and changes without notice.
	c.Header("Cache-Control", "private, no-store")
	c.Header("Vary", varyKey)
	status := f.Code.Status()
	_ = answer(c, status, object{"message": f.Message}) // too short to be refused
	if status < http.StatusInternalServerError && f.Code != fault.RateLimited {
		takeRest(c)
	}
}

// object is a body with one property.
type object map[string]any

// answer encodes the body and answers with it.
func answer(c *gin.Context, status int, body any) error {
	encoded, err := encode(body)
	if err != nil {
		return err
	}
	return write(c, status, encoded)
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
	forMinutes     = "max-age=300" // shared caches must not keep who was hidden or erased
	privateNoCache = "private, " + noCache
)

// encode writes JSON. Bytes that are not UTF-8 are replaced.
func encode(body any) ([]byte, error) { return json.Marshal(body, jsontext.AllowInvalidUTF8(true)) }
