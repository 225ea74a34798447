package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/http/edge"
	"levelboard/internal/store/ratelimit"
)

const keyHeader = "X-Api-Key"

// namespace returns the namespace of the caller's Idempotency-Keys. No key's id equals the operator's namespace.
func namespace(who edge.Caller) string {
	if who.Operator {
		return "operator"
	}
	return who.Key.ID
}

// identify finds the caller and charges their budgets, before other work. It does not reject a bad
// key: that comes after the charge, so that guessing keys uses up the budget of the guesser's address.
func (a *api) identify(c *gin.Context) {
	who, err := a.lookUp(c)
	if err == nil {
		stateOf(c).Caller = who
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

func (a *api) authenticate(c *gin.Context) edge.Caller {
	presented := c.Request.Header.Values(keyHeader)
	switch len(presented) {
	case 0:
		if a.deps.Pages == nil || c.Request.Header["Cookie"] == nil {
			return edge.Caller{}
		}
		session, err := a.deps.Pages.Session(c)
		return edge.Caller{Session: session, Failure: err}
	case 1:
		key, err := a.deps.Keys.Authenticate(c.Request.Context(), presented[0])
		if err != nil {
			return edge.Caller{Failure: err}
		}
		return edge.Caller{Key: key}
	default:
		return edge.Caller{Failure: fault.New(fault.Unauthenticated, "The header X-Api-Key is given more than once. Send one key.")}
	}
}

// charge takes one request from the caller's budgets. It always sets the three headers.
func (a *api) charge(c *gin.Context, who edge.Caller) error {
	budgets := a.budgets(c, who)
	decision, err := edge.Charge(c.Request.Context(), a.deps.Limiter, "Too many requests. Wait as many seconds as the Retry-After header says.", budgets...)
	if fault.Is(err, fault.Unavailable) {
		setLimitHeaders(c, strictest(budgets), 0, edge.Seconds(fault.From(err).RetryAfter))
		return err
	}
	setLimitHeaders(c, decision.Limit, decision.Remaining, edge.Seconds(decision.Reset))
	return err
}

func (a *api) budgets(c *gin.Context, who edge.Caller) []ratelimit.Budget {
	if who.Key == nil {
		return []ratelimit.Budget{ratelimit.OfIdentity(string(who.User()), c.ClientIP(), a.deps.IdentityLimit)}
	}
	perKey := a.deps.KeyLimit
	if who.Key.RateLimit != nil {
		perKey = *who.Key.RateLimit
	}
	return []ratelimit.Budget{
		{Scope: ratelimit.ScopeKey, Name: who.Key.ID, PerMinute: perKey},
		{Scope: ratelimit.ScopeIdentity, Name: string(who.Key.OwnerID), PerMinute: a.deps.IdentityLimit},
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

// refuseBadKey answers 401 for an invalid key, on routes that need no key.
func (a *api) refuseBadKey(c *gin.Context) {
	if who := callerOf(c); who.Failure != nil {
		a.fail(c, who.Failure)
	}
}

// requireKey answers 401 without a valid key, on routes that need one.
func (a *api) requireKey(c *gin.Context) {
	who := callerOf(c)
	if who.Key != nil {
		return
	}
	if who.Failure != nil {
		a.fail(c, who.Failure)
		return
	}
	a.fail(c, fault.New(fault.Unauthenticated, "An API key is required. Send one in the header X-Api-Key."))
}

// permit returns a 403 if the key may not do this in the guild. The guild need not exist.
func permit(c *gin.Context, g id.Guild) error {
	if callerOf(c).Operator {
		return nil
	}
	key := callerOf(c).Key
	if !key.May(c.Request.Method) {
		return fault.New(fault.Forbidden, "This API key may only read. Use a read/write key.")
	}
	if !key.Granted(g) {
		return fault.New(fault.Forbidden, "This API key has no access to this guild. Have the guild granted to the key: by its owner at /profile, or by the operator with levelboard key grant.")
	}
	return nil
}

// wrongAdminTokens is how many wrong admin tokens an address may send in a minute.
const wrongAdminTokens = 20

// requireAdmin answers 401 without the admin token, and 429 to an address that guesses it. Wrong tokens are charged; when they have
// used up the budget, the right one is rejected as well. While Redis is down nothing is limited, since the operator must get in.
func (a *api) requireAdmin(c *gin.Context) {
	if a.deps.AdminToken == "" {
		a.fail(c, fault.New(fault.NotFound, "There is nothing here: the admin API is off. Set LEVELBOARD_ADMIN_TOKEN to turn it on."))
		return
	}
	presented := c.Request.Header.Values("Authorization")
	right := len(presented) == 1 && a.isAdmin(presented[0]) // if two are sent, neither counts, as with keys
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

// guessing charges a wrong token to the address. For the right one it only reads the budget.
func (a *api) guessing(c *gin.Context, right bool) (ratelimit.Decision, error) {
	budget := ratelimit.Budget{Scope: ratelimit.ScopeAdmin, Name: ratelimit.ClientName(c.ClientIP()), PerMinute: wrongAdminTokens}
	if right {
		return a.deps.Limiter.Peek(c.Request.Context(), budget)
	}
	return a.deps.Limiter.Charge(c.Request.Context(), budget)
}

// isAdmin compares digests, so that its time reveals neither the token's text nor its length.
func (a *api) isAdmin(presented string) bool {
	scheme, token, _ := strings.Cut(presented, " ")
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.deps.AdminToken))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}
