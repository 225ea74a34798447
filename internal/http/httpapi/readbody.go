package httpapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/shares"
	"levelboard/internal/platform/strictjson"
)

// maxBody is the maximum size of a body in bytes, except on the routes of maxLargeBody.
const maxBody = 64 << 10

const (
	takenRest   = 256 << 10 // bytes of an unread body that net/http reads by itself
	refusedRest = 4 << 20   // bytes that takeRest reads
)

// jsonBody reads a JSON body of at most limit bytes, within edge.BodyTime.
func jsonBody(c *gin.Context, limit int64) ([]byte, error) {
	if err := checkMediaType(c.Request.Header); err != nil {
		return nil, err
	}
	return readBody(c, limit)
}

func readBody(c *gin.Context, limit int64) ([]byte, error) {
	if c.Request.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	var sent bytes.Buffer
	if length := c.Request.ContentLength; length > 0 {
		sent.Grow(int(length) + bytes.MinRead)
	}
	err := edge.Receive(c, edge.BodyTime, func() error {
		_, err := sent.ReadFrom(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
		return err
	})
	var beyond *http.MaxBytesError
	switch {
	case errors.As(err, &beyond):
		return nil, tooLarge(limit)
	case errors.Is(err, shares.ErrFull):
		turnedAway.Inc()
		return nil, full(err)
	case err != nil:
		return nil, fault.Wrap(err, fault.Invalid, "The body could not be read to its end. Send it again.")
	}
	return sent.Bytes(), nil
}

// bodiless makes a handler that takes no body. An empty body or {} is accepted; anything
// else gets 400, since its sender expects an effect that the route does not have.
func bodiless(h handler) handler {
	return func(r *request) (any, error) {
		if r.c.Request.ContentLength == 0 {
			return h(r)
		}
		sent, err := readBody(r.c, maxBody)
		large := fault.Is(err, fault.TooLarge)
		if err != nil && !large {
			return nil, err
		}
		if large || len(sent) > 0 && strictjson.Decode(sent, &struct{}{}) != nil {
			return nil, fault.New(fault.Invalid, "This request takes no body. Send none, or {}.")
		}
		return h(r)
	}
}

// takeRest reads the rest of a rejected body, up to refusedRest. Without that, a client
// that is still sending would find its connection closed and not read the answer.
func takeRest(c *gin.Context) {
	if c.Request.ContentLength <= takenRest || c.Request.Header.Get("Expect") != "" {
		return
	}
	answer := http.NewResponseController(c.Writer)
	_ = answer.Flush()
	_ = answer.SetReadDeadline(time.Now().Add(edge.BodyTime))
	_, _ = io.CopyN(io.Discard, c.Request.Body, refusedRest)
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "The body is larger than %d bytes. Send a smaller one.", limit)
}

func checkMediaType(h http.Header) error {
	given := h.Values("Content-Type")
	coding := strings.Join(h.Values("Content-Encoding"), ",")
	if len(given) == 1 && (coding == "" || strings.EqualFold(coding, "identity")) {
		media, params, err := mime.ParseMediaType(given[0])
		charset, named := params["charset"]
		if err == nil && media == jsonType && (!named || strings.EqualFold(charset, "utf-8")) {
			return nil
		}
	}
	return fault.New(fault.UnsupportedMediaType, "The body must be JSON in UTF-8, uncompressed, with the header Content-Type: application/json.")
}

// shorten limits how much of a client's text is in the answer.
func shorten(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}
