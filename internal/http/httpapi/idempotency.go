package httpapi

import (
	"net/http"
	"regexp"

	"levelboard/internal/domain/fault"
	"levelboard/internal/usecase/leaderboard"
)

// maxIdempotencyKey is the maximum length of the header, in bytes.
const maxIdempotencyKey = 128

var visible = regexp.MustCompile(`^[!-~]+$`)

// idempotencyKey reads the header Idempotency-Key.
func (r *request) idempotencyKey() {
	if r.err != nil {
		return
	}
	given := false
	r.key, given, r.err = header(r.c.Request.Header, "Idempotency-Key", "key")
	if given && (len(r.key) > maxIdempotencyKey || !visible.MatchString(r.key)) {
		r.err = fault.New(fault.Invalid, "The header Idempotency-Key must be 1 to 128 visible ASCII characters.")
	}
}

// header reads a header that may be sent at most once.
func header(h http.Header, name, what string) (value string, given bool, err error) {
	switch values := h.Values(name); len(values) {
	case 0:
		return "", false, nil
	case 1:
		return values[0], true, nil
	}
	return "", false, fault.New(fault.Invalid, "The header %s is given more than once. Send one %s.", name, what)
}

// once names the request by the caller's namespace and its Idempotency-Key, if it has one, and by the exact bytes of its body.
func (r *request) once() leaderboard.Once {
	if r.key == "" {
		return leaderboard.Once{}
	}
	return leaderboard.Once{
		Key:     leaderboard.DigestOf([]byte(namespace(callerOf(r.c))), []byte(r.key)),
		Request: leaderboard.DigestOf([]byte(r.c.Request.Method), []byte(r.c.Request.URL.Path), r.sent),
	}
}

// replayed tells the client whether the outcome is that of an earlier request.
func (r *request) replayed(so bool) {
	if so {
		replays.Inc()
		r.c.Header("Idempotent-Replayed", "true")
	}
}
