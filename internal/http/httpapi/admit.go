package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/shares"
	"levelboard/internal/store/ratelimit"
)

// defaultInFlight is how many requests to /v2 are worked on at the same time; one more is refused at once. When a store is
// slow, requests pile up until their patience or their time ends, and this is how high. It bounds what they need (each has
// a goroutine and at most a body in memory, so 2048 of them stay below 200 MB; see largeBodies for the larger ones) and how long the queue before Redis gets: a
// healthy Redis works off that many in a fraction of a second, so a longer queue would only make everybody late.
const defaultInFlight = 2048

// shareOfOne is what part of all places one identity may hold, or one address without a key.
const shareOfOne = 4

// Lookups are requests whose caller is not in memory: a key that the archive has to be asked for, or somebody who is signed in. They are
// bounded by address, because the identity is not known yet, so that made-up keys keep no other caller waiting.
const (
	mostLookups      = 512
	lookupsOfAddress = mostLookups / shareOfOne
)

// lookUp identifies the caller. The error says that too many are being looked up.
func (a *api) lookUp(c *gin.Context) (edge.Caller, error) {
	if !a.inMemory(c) {
		place, err := a.lookups.Take(ratelimit.ClientName(c.ClientIP()))
		if err != nil {
			return edge.Caller{}, err
		}
		defer place.Release()
	}
	return a.authenticate(c), nil
}

// inMemory reports whether authenticate asks no store.
func (a *api) inMemory(c *gin.Context) bool {
	if presented := c.Request.Header.Values(keyHeader); len(presented) > 0 {
		return len(presented) > 1 || a.deps.Keys.InMemory(presented[0])
	}
	return a.deps.Pages == nil || c.Request.Header["Cookie"] == nil
}

// admit takes a place for the request in the share of its caller.
func (a *api) admit(c *gin.Context) (err error) {
	stateOf(c).Place, err = a.inFlight.Take(edge.Holder(c))
	return err
}

// turnAway sets the limits' headers to what is known without charging anybody.
func (a *api) turnAway(c *gin.Context, why error) {
	refusal := full(why)
	if refusal.Code == fault.Unavailable {
		turnedAway.Inc()
	}
	anybody := []ratelimit.Budget{{Scope: ratelimit.ScopeAddress, PerMinute: a.deps.IdentityLimit}}
	setLimitHeaders(c, strictest(anybody), 0, edge.Seconds(refusal.RetryAfter))
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
