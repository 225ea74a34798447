package httpapi

import (
	"bytes"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/http/shares"
	"levelboard/internal/platform/strictjson"
)

// maxBody is the largest body of every other route than those of maxLargeBody, in bytes.
const maxBody = 64 << 10

// bodyTime is how long a body may take to arrive once it is read.
const bodyTime = 5 * time.Second

const (
	takenRest   = 256 << 10 // bytes of a body that net/http takes by itself
	refusedRest = 4 << 20   // bytes
)

func pathID[T id.Guild | id.User](c *gin.Context, name string) (T, error) {
	parsed, err := id.Parse[T](c.Param(name))
	if err != nil {
		return "", fault.New(fault.Invalid, "%s in the path %s.", name, err)
	}
	return parsed, nil
}

// query parses the query strictly: what cannot be decoded, and a parameter given twice, is refused.
func query(c *gin.Context) (url.Values, error) {
	if c.Request.URL.RawQuery == "" {
		return nil, nil
	}
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.Invalid, "The query of the address is malformed. Encode it as name=value pairs joined by &.")
	}
	for name, given := range values {
		if len(given) > 1 {
			return nil, fault.New(fault.Invalid, "The query parameter %q is given more than once. Give it once.", shorten(name))
		}
	}
	return values, nil
}

// queryInt reads a whole number, which is required, in its one canonical form: no sign +, no leading zeros. With math.MaxInt64 as high
// it has no upper bound, and what is higher is read as that.
func queryInt(values url.Values, name string, low, high int64) (int64, error) {
	text := values.Get(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) && n == high && text[0] != '+' && text[0] != '0' {
		return n, nil
	}
	if err != nil || n < low || n > high || strconv.FormatInt(n, 10) != text {
		must := "must be"
		if !values.Has(name) {
			must = "is required and must be"
		}
		if high == math.MaxInt64 {
			return 0, fault.New(fault.Invalid, "The query parameter %s %s a whole number from %d.", name, must, low)
		}
		return 0, fault.New(fault.Invalid, "The query parameter %s %s a whole number from %d to %d.", name, must, low, high)
	}
	return n, nil
}

// body reads a JSON body of at most limit bytes, which has to arrive soon.
func body(c *gin.Context, limit int64) ([]byte, error) {
	if err := checkMediaType(c.Request.Header); err != nil {
		return nil, err
	}
	return readBody(c, limit)
}

func readBody(c *gin.Context, limit int64) ([]byte, error) {
	if c.Request.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	// Only its identity's share counts while it arrives, so that those who send slowly keep nobody else waiting.
	place := stateOf(c).place
	place.Lend()
	// net/http takes the deadline back at the end of the body. Without a connection, in tests, there is none.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(bodyTime))
	var sent bytes.Buffer
	if length := c.Request.ContentLength; length > 0 {
		sent.Grow(int(length) + bytes.MinRead)
	}
	_, err := sent.ReadFrom(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	var beyond *http.MaxBytesError
	if errors.As(err, &beyond) {
		return nil, tooLarge(limit)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The body could not be read to its end. Send it again.")
	}
	if !place.Resume() {
		turnedAway.Inc()
		return nil, full(shares.ErrFull)
	}
	return sent.Bytes(), nil
}

// bodiless serves a route that takes no body. It refuses one that says anything: its sender expects what the route does not do.
func bodiless(h handler) handler {
	return func(c *gin.Context) error {
		if c.Request.ContentLength == 0 {
			return h(c)
		}
		sent, err := readBody(c, maxBody)
		var refused *fault.Error
		large := errors.As(err, &refused) && refused.Code == fault.TooLarge
		if err != nil && !large {
			return err
		}
		if large || len(sent) > 0 && strictjson.Decode(sent, &struct{}{}) != nil {
			return fault.New(fault.Invalid, "This request takes no body. Send none, or {}.")
		}
		return h(c)
	}
}

// takeRest reads what is still to come of a refused body, up to refusedRest: a client that finds its connection closed while it sends does not
// look for the answer.
func takeRest(c *gin.Context) {
	if c.Request.ContentLength <= takenRest || c.Request.Header.Get("Expect") != "" {
		return
	}
	answer := http.NewResponseController(c.Writer)
	_ = answer.Flush()
	_ = answer.SetReadDeadline(time.Now().Add(bodyTime))
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

// shorten keeps what a client sent from filling the answer.
func shorten(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}
