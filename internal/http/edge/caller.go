package edge

import (
	"context"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/signin"
)

// Caller is who sent a request.
type Caller struct {
	Key      *apikey.Key     // nil unless a valid key was sent
	Operator bool            // sent the admin token
	Session  *signin.Session // of the user signed in in this browser, if no key was sent; nil if nobody is
	Failure  error           // why the sent key is not valid, or why the session could not be read
}

// User returns the user for whom the caller acts: the owner of the key, or the user signed in; empty if neither is known.
func (c Caller) User() id.User {
	switch {
	case c.Key != nil:
		return c.Key.OwnerID
	case c.Session != nil:
		return c.Session.User.ID
	}
	return ""
}

// Holder returns the name that a request's shares belong to: the caller's user or, without one, the address.
func Holder(c *gin.Context) string {
	if user := Of(c).Caller.User(); user != "" {
		return "user " + string(user)
	}
	return "address " + ratelimit.ClientName(c.ClientIP())
}

// Manages reports whether the caller manages the guild.
func (c Caller) Manages(g *guild.Guild) bool {
	if c.Key == nil {
		return c.Session.Manages(g)
	}
	return g.IsManager(c.Key.OwnerID)
}

// MayRead reports whether the caller may read the guild's leaderboard.
func (c Caller) MayRead(g *guild.Guild) bool {
	if c.Key == nil {
		return c.Session.MayRead(g)
	}
	return g.Visibility == guild.Public || c.Key.Granted(g.ID)
}

// Guilds finds a guild's settings. It returns a NotFound fault for an unknown guild.
type Guilds interface {
	ByID(ctx context.Context, g id.Guild) (*guild.Guild, error)
	ByVanity(ctx context.Context, vanity string) (*guild.Guild, error)
}

// FindGuild finds a guild by its id or, when that is empty, by its vanity.
func FindGuild(ctx context.Context, guilds Guilds, g id.Guild, vanity string) (*guild.Guild, error) {
	if g != "" {
		return guilds.ByID(ctx, g)
	}
	return guilds.ByVanity(ctx, vanity)
}

// Limiter charges one request to each budget in turn, up to the first that rejects it. The budgets before that one stay charged.
type Limiter interface {
	Charge(ctx context.Context, budgets ...ratelimit.Budget) (ratelimit.Decision, error)
}

// Charge takes one request from the budgets. The error is a RateLimited fault with the
// message when one of them is used up, and an Unavailable one when the limits cannot be read.
func Charge(ctx context.Context, l Limiter, message string, budgets ...ratelimit.Budget) (ratelimit.Decision, error) {
	decision, err := l.Charge(ctx, budgets...)
	switch {
	case err != nil:
		return decision, fault.Down("charge the limits", err)
	case !decision.Allowed:
		return decision, &fault.Error{Code: fault.RateLimited, RetryAfter: decision.RetryAfter, Message: message}
	}
	return decision, nil
}
