package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/shares"
	"levelboard/internal/store/ratelimit"
)

// defaultInFlight is how many requests to /v2 are worked on at the same time; one more is refused at once. When a store is
// slow, requests pile up until their patience or their time ends, and this is how high. It bounds what they need (each has
// a goroutine and at most a body in memory, so 2048 of them stay below 200 MB; see largeBodies for the larger ones) and how long the queue before Redis gets: a
// Redis that is well works so many off in a fraction of a second, so a longer queue would only make everybody late.
const defaultInFlight = 2048

// shareOfOne is what part of all places one identity may hold, or one address without a key.
const shareOfOne = 4

// admit rejects a request to /v2 when all places are taken, before it costs any work. Until the caller is known, the place counts in
// the share of the address.
func (a *API) admit(c *gin.Context) {
	if !underV2(c.Request) {
		return
	}
	place, err := a.inFlight.Take("address " + ratelimit.ClientName(c.ClientIP()))
	if err != nil {
		a.crossOrigin(c)
		a.turnAway(c, err)
		return
	}
	s := stateOf(c)
	s.place = place
	defer s.release()
	c.Next()
}

// admitAs moves the request's place from the share of the address to that of the caller.
func (a *API) admitAs(c *gin.Context, who caller) bool {
	user := string(who.user())
	if user == "" || stateOf(c).place.Move("user "+user) {
		return true
	}
	a.turnAway(c, shares.ErrShare)
	return false
}

// turnAway sets the limits' headers to what is known without charging anybody.
func (a *API) turnAway(c *gin.Context, why error) {
	refusal := full(why)
	if refusal.Code == fault.Unavailable {
		turnedAway.Inc()
	}
	anybody := []ratelimit.Budget{{Scope: ratelimit.ScopeAddress, PerMinute: a.deps.IdentityLimit}}
	setLimitHeaders(c, strictest(anybody), 0, wholeSeconds(refusal.RetryAfter))
	a.fail(c, refusal)
}

// full is the refusal of a request for which there is no place.
func full(why error) *fault.Error {
	if errors.Is(why, shares.ErrShare) {
		return &fault.Error{
			Code: fault.RateLimited, RetryAfter: time.Second, Cause: why,
			Message: "Too many requests of yours are being worked on at once. Wait for some of their answers, then try again.",
		}
	}
	return &fault.Error{
		Code: fault.Unavailable, RetryAfter: time.Second, Cause: why,
		Message: "The service is working on as many requests as it can at the moment. Try again in a second.",
	}
}

func underV2(r *http.Request) bool {
	return r.URL.Path == "/v2" || strings.HasPrefix(r.URL.Path, "/v2/")
}
