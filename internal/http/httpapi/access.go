package httpapi

import (
	"strconv"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/signin"
)

const keyHeader = "X-Api-Key"

// caller is who sent a request to /v2.
type caller struct {
	key      *apikey.Key     // nil without a valid key
	operator bool            // sent the admin token
	session  *signin.Session // of who is signed in in this browser, when no key was presented; nil when nobody is
	failure  error           // why a key that was presented is not valid, or why it cannot be said who is signed in
}

// user is on whose behalf the caller asks: the owner of the key, or who is signed in; empty when neither is known.
func (c caller) user() id.User {
	switch {
	case c.key != nil:
		return c.key.OwnerID
	case c.session != nil:
		return c.session.User.ID
	}
	return ""
}

// namespace is where the caller's Idempotency-Keys belong. No key has the operator's as its id.
func (c caller) namespace() string {
	if c.operator {
		return "operator"
	}
	return c.key.ID
}

// manages reports whether the caller manages the guild: the owner of the key, or who is signed in.
func (c caller) manages(g *guild.Guild) bool {
	if c.key == nil {
		return c.session.Manages(g)
	}
	return g.IsManager(c.key.OwnerID)
}

// identify finds the caller and charges their budgets, before anything else costs work. It does not refuse a bad key
// itself: that comes after the charge, so that guessing keys costs the guesser's address.
func (a *api) identify(c *gin.Context) {
	who, err := a.lookUp(c)
	if err == nil {
		stateOf(c).caller = who
		err = a.admit(c)
	}
	if err != nil {
		a.turnAway(c, err)
		return
	}
	if err := a.charge(c, who); err != nil {
		a.fail(c, err)
	}
}

func (a *api) authenticate(c *gin.Context) caller {
	presented := c.Request.Header.Values(keyHeader)
	switch len(presented) {
	case 0:
		if a.deps.Pages == nil || c.Request.Header["Cookie"] == nil {
			return caller{}
		}
		session, err := a.deps.Pages.Session(c)
		return caller{session: session, failure: err}
	case 1:
		key, err := a.deps.Keys.Authenticate(c.Request.Context(), presented[0])
		if err != nil {
			return caller{failure: err}
		}
		return caller{key: key}
	default:
		return caller{failure: fault.New(fault.Unauthenticated, "The header X-Api-Key is given more than once. Send one key.")}
	}
}

// charge takes one request from the budgets of the caller and sets the three headers, whatever the outcome.
func (a *api) charge(c *gin.Context, who caller) error {
	budgets := a.budgets(c, who)
	decision, err := a.deps.Limiter.Charge(c.Request.Context(), budgets...)
	if err != nil {
		down := fault.Down("charge the limits", err)
		setLimitHeaders(c, strictest(budgets), 0, wholeSeconds(down.RetryAfter))
		return down
	}
	setLimitHeaders(c, decision.Limit, decision.Remaining, wholeSeconds(decision.Reset))
	if decision.Allowed {
		return nil
	}
	limited := fault.New(fault.RateLimited, "Too many requests. Wait as many seconds as the Retry-After header says.")
	limited.RetryAfter = decision.RetryAfter
	return limited
}

func (a *api) budgets(c *gin.Context, who caller) []ratelimit.Budget {
	if who.key == nil {
		return []ratelimit.Budget{ratelimit.OfIdentity(string(who.user()), c.ClientIP(), a.deps.IdentityLimit)}
	}
	perKey := a.deps.KeyLimit
	if who.key.RateLimit != nil {
		perKey = *who.key.RateLimit
	}
	return []ratelimit.Budget{
		{Scope: ratelimit.ScopeKey, Name: who.key.ID, PerMinute: perKey},
		{Scope: ratelimit.ScopeIdentity, Name: string(who.key.OwnerID), PerMinute: a.deps.IdentityLimit},
	}
}

func strictest(budgets []ratelimit.Budget) int {
	limit := ratelimit.Unlimited
	for _, b := range budgets {
		if b.PerMinute > 0 {
			limit = min(limit, b.PerMinute)
		}
	}
	return limit
}

func setLimitHeaders(c *gin.Context, limit, remaining int, reset int64) {
	c.Header("X-RateLimit-Limit", strconv.Itoa(limit))
	c.Header("X-RateLimit-Remaining", strconv.Itoa(remaining))
	c.Header("X-RateLimit-Reset", strconv.FormatInt(reset, 10))
}

// refuseBadKey is the 401 of a key that was presented and is not valid, on routes that need none.
func (a *api) refuseBadKey(c *gin.Context) {
	if who := callerOf(c); who.failure != nil {
		a.fail(c, who.failure)
	}
}

// requireKey is the 401 of routes that need a key.
func (a *api) requireKey(c *gin.Context) {
	who := callerOf(c)
	if who.key != nil {
		return
	}
	if who.failure != nil {
		a.fail(c, who.failure)
		return
	}
	a.fail(c, fault.New(fault.Unauthenticated, "An API key is required. Send one in the header X-Api-Key."))
}

// permit is the 403 of a key that may not do this in the guild, whether there is such a guild or not.
func permit(c *gin.Context, g id.Guild) error {
	if callerOf(c).operator {
		return nil
	}
	key := callerOf(c).key
	if !key.May(c.Request.Method) {
		return fault.New(fault.Forbidden, "This API key may only read. Use a read/write key.")
	}
	if !key.Granted(g) {
		return fault.New(fault.Forbidden, "This API key has no access to this guild. Have the guild granted to the key: by its owner at /profile, or by the operator with levelboard key grant.")
	}
	return nil
}
