package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/usecase/leaderboard"
)

const (
	idempotencyHeader = "Idempotency-Key"
	replayedHeader    = "Idempotent-Replayed"
	maxIdempotencyKey = 128
)

// idempotencyKey reads the header; empty when there is none.
func idempotencyKey(h http.Header) (string, error) {
	switch given := h.Values(idempotencyHeader); {
	case len(given) == 0:
		return "", nil
	case len(given) > 1:
		return "", fault.New(fault.Invalid, "The header Idempotency-Key is given more than once. Send one key.")
	case !validIdempotencyKey(given[0]):
		return "", fault.New(fault.Invalid, "The header Idempotency-Key must be 1 to %d visible ASCII characters.", maxIdempotencyKey)
	default:
		return given[0], nil
	}
}

func validIdempotencyKey(key string) bool {
	if len(key) < 1 || len(key) > maxIdempotencyKey {
		return false
	}
	for i := range len(key) {
		if key[i] < 0x21 || key[i] > 0x7e {
			return false
		}
	}
	return true
}

// onceOf names the request by its Idempotency-Key, in the namespace of its caller, if it has one. body is what was sent,
// byte for byte; nil where a body means nothing.
func onceOf(c *gin.Context, key string, body []byte) leaderboard.Once {
	if key == "" {
		return leaderboard.Once{}
	}
	return leaderboard.Once{
		Key:     leaderboard.DigestOf([]byte(namespace(callerOf(c))), []byte(key)),
		Request: leaderboard.DigestOf([]byte(c.Request.Method), []byte(c.Request.URL.Path), body),
	}
}

// replayed tells the client whether this is the outcome of an earlier request.
func (r *request) replayed(so bool) {
	if so {
		replays.Inc()
		r.c.Header(replayedHeader, "true")
	}
}
