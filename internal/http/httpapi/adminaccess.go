package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
	"levelboard/internal/store/ratelimit"
)

// wrongAdminTokens is how many wrong admin tokens an address may send, a minute.
const wrongAdminTokens = 20

// requireAdmin answers 401 without the admin token, and 429 to an address that guesses it: wrong tokens are charged, and once they have
// used up the budget the right one is rejected as well. While Redis is away nothing is limited, since the operator must get in.
func (a *api) requireAdmin(c *gin.Context) {
	if a.deps.AdminToken == "" {
		a.fail(c, fault.New(fault.NotFound, "There is nothing here: the admin API is off. Set LEVELBOARD_ADMIN_TOKEN to turn it on."))
		return
	}
	presented := c.Request.Header.Values("Authorization")
	right := len(presented) == 1 && a.isAdmin(presented[0]) // as with keys, of two neither counts
	if len(presented) > 0 {
		if d, err := a.guessing(c, right); err == nil && !d.Allowed {
			a.fail(c, &fault.Error{Code: fault.RateLimited, RetryAfter: d.RetryAfter, Message: "Your address sent too many wrong admin tokens, so this one was not " +
				"looked at. Wait as many seconds as the Retry-After header says, or use another address."})
			return
		}
	}
	if !right {
		c.Header("WWW-Authenticate", "Bearer")
		a.fail(c, fault.New(fault.Unauthenticated, "The admin token is missing, wrong or given more than once. Send it in the header Authorization: Bearer TOKEN."))
		return
	}
	stateOf(c).Caller = edge.Caller{Operator: true}
}

// guessing charges a wrong token to the address; with the right one it only looks.
func (a *api) guessing(c *gin.Context, right bool) (ratelimit.Decision, error) {
	budget := ratelimit.Budget{Scope: ratelimit.ScopeAdmin, Name: ratelimit.ClientName(c.ClientIP()), PerMinute: wrongAdminTokens}
	if right {
		return a.deps.Limiter.Peek(c.Request.Context(), budget)
	}
	return a.deps.Limiter.Charge(c.Request.Context(), budget)
}

// isAdmin compares digests, so that neither the token's text nor its length shows in the time it takes.
func (a *api) isAdmin(presented string) bool {
	scheme, token, _ := strings.Cut(presented, " ")
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.deps.AdminToken))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}
