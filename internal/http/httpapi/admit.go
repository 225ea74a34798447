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

// defaultInFlight is how many requests to /v2 run at the same time; one more is rejected at once. When a store is
// slow, requests pile up to this number until they time out. Each has a goroutine and at most one body in memory,
// so 2048 of them need less than 200 MB (larger bodies: see largeBodies). It also bounds the queue before Redis.
// A healthy Redis works that many off in a fraction of a second; a longer queue would only delay all of them.
const defaultInFlight = 2048

// shareOfOne divides the places: one identity, or one address without a key, may hold such a part.
const shareOfOne = 4

// Lookups are requests whose caller is not in memory: the key must be read from the archive, or the session from Redis.
// Each address has a share of them, since the identity is not known yet, so that made-up keys do not keep others waiting.
const (
	mostLookups      = 512
	lookupsOfAddress = mostLookups / shareOfOne
)

// lookUp identifies the caller. It fails when too many callers are being looked up.
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

// inMemory reports whether authenticate needs no store.
func (a *api) inMemory(c *gin.Context) bool {
	if presented := c.Request.Header.Values(keyHeader); len(presented) > 0 {
		return len(presented) > 1 || a.deps.Keys.InMemory(presented[0])
	}
	return a.deps.Pages == nil || c.Request.Header["Cookie"] == nil
}

// admit takes a place for the request from its caller's share.
func (a *api) admit(c *gin.Context) (err error) {
	stateOf(c).Place, err = a.inFlight.Take(edge.Holder(c))
	return err
}

// turnAway sets the limits' headers to what is known without a charge.
func (a *api) turnAway(c *gin.Context, why error) {
	refusal := full(why)
	if refusal.Code == fault.Unavailable {
		turnedAway.Inc()
	}
	anybody := []ratelimit.Budget{{Scope: ratelimit.ScopeAddress, PerMinute: a.deps.IdentityLimit}}
	setLimitHeaders(c, strictest(anybody), 0, edge.Seconds(refusal.RetryAfter))
	a.fail(c, refusal)
}

// full returns the fault for a request that finds no place.
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
