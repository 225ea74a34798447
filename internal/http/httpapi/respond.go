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

// handler reads a request and returns the body of its answer, or nil for an answer without a body.
type handler func(r *request) (body any, err error)

// json makes the route of a handler whose answer is JSON.
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

// privateJSON is json for answers that depend on the key. The caller may cache them and must revalidate each time.
func (a *api) privateJSON(h handler) gin.HandlerFunc {
	return a.json(func(r *request) (any, error) {
		body, err := h(r)
		r.c.Header("Cache-Control", privateNoCache)
		r.c.Header("Vary", varyKey)
		return body, err
	})
}

// writes makes the route of a handler that writes its answer itself.
func (a *api) writes(h func(r *request) error) gin.HandlerFunc {
	return edge.Handle(func(c *gin.Context) error { return h(a.read(c)) }, a.fail)
}

// fail answers with the fault's status and public message.
func (a *api) fail(c *gin.Context, err error) {
	f := edge.Fail(c, a.log, err)
	// The handler may have set these headers before it failed.
	for _, name := range []string{"ETag", "Content-Encoding"} {
		c.Writer.Header().Del(name)
	}
	// An error depends on the key, and may end at any time.
	c.Header("Cache-Control", "private, no-store")
	c.Header("Vary", varyKey)
	status := f.Code.Status()
	_ = answer(c, status, object{"message": f.Message}) // too short to be rejected
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

// writeAs answers with a body of a media type. It fails for a caller with too many unread
// bytes. It sets the length, since net/http would otherwise send a large body in chunks.
func writeAs(c *gin.Context, status int, mediaType string, body []byte) error {
	if err := counted(c, len(body)); err != nil {
		return err
	}
	c.Header("Content-Type", mediaType)
	c.Header("Content-Length", strconv.Itoa(len(body)))
	stateOf(c).release()
	c.Writer.WriteHeader(status)
	_, _ = c.Writer.Write(body) // the client is gone
	return nil
}

// Values of Vary and Cache-Control.
const (
	varyKey        = "Origin, " + keyHeader
	varyOpen       = "Origin, Accept-Encoding"
	varyPage       = "Origin, Accept-Encoding, " + keyHeader
	noCache        = "no-cache"
	forMinutes     = "max-age=300" // shared caches must not keep users who were hidden or erased since
	privateNoCache = "private, " + noCache
)

// encode writes JSON. Bytes that are not UTF-8 are replaced.
func encode(body any) ([]byte, error) { return json.Marshal(body, jsontext.AllowInvalidUTF8(true)) }
