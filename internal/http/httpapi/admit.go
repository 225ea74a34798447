package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/store/ratelimit"
)

// defaultInFlight is how many requests to /v2 are worked on at the same time; one more is refused at once. When a store is
// slow, requests pile up until their patience or their time ends, and this is how high. It bounds what they need (each has
// a goroutine and at most a body in memory, so 2048 of them stay below 200 MB; see largeBodies for the larger ones) and how long the queue before Redis gets: a
// Redis that is well works so many off in a fraction of a second, so a longer queue would only make everybody late.
const defaultInFlight = 2048

var errCrowded = errors.New("too many requests are in flight")

// admit refuses a request to /v2 when as many as may be are being worked on, before it costs any work.
func (a *API) admit(c *gin.Context) {
	if !underV2(c.Request) {
		return
	}
	places := a.inFlight
	if isStream(c) {
		places = a.streams
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	default:
		turnedAway.Inc()
		a.crossOrigin(c)
		a.fail(c, a.crowded(c))
		return
	}
	c.Next()
}

// crowded sets the limits' headers to what is known without finding out whom to charge.
func (a *API) crowded(c *gin.Context) error {
	refusal := full()
	anybody := []ratelimit.Budget{{Scope: ratelimit.ScopeAddress, PerMinute: a.deps.IdentityLimit}}
	setLimitHeaders(c, strictest(anybody), 0, wholeSeconds(refusal.RetryAfter))
	return refusal
}

func full() *fault.Error {
	return &fault.Error{
		Code: fault.Unavailable, RetryAfter: time.Second,
		Message: "The service is working on as many requests as it can at the moment. Try again in a second.",
		Cause:   errCrowded,
	}
}

func underV2(r *http.Request) bool {
	return r.URL.Path == "/v2" || strings.HasPrefix(r.URL.Path, "/v2/")
}
