package httpapi

import (
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/shares"
)

const (
	// largeBodies is how many requests with a body larger than maxBody run at the same time; more wait
	// for their turn. Each may need some megabytes: the body, what was read from it, and the answer.
	largeBodies = 64
	// largeBodiesOfOwner is how many of these one owner may have. Without a bound, an owner's
	// keys could hold them all by sending slowly. It is more than enough to keep Redis busy.
	largeBodiesOfOwner = 32
	// refusedBodies bounds a separate pool, for requests whose key may not do what they ask. They are rejected only
	// after their body is parsed (400 comes before 403), and until then must not take places from allowed requests.
	refusedBodies = 4
)

// maxLargeBody is the maximum size of a body on routes that take large ones, in bytes.
const maxLargeBody = 1 << 20

// holdLargeBody waits until there is room for the request's body; g is the guild of the path. A small body needs no room.
func (a *api) holdLargeBody(c *gin.Context, g id.Guild) error {
	if length := c.Request.ContentLength; length >= 0 && length <= maxBody {
		return nil
	}
	pool := a.largeBodies
	if permit(c, g) != nil {
		pool = a.refusedBodies
	}
	room, err := pool.Wait(c.Request.Context(), string(callerOf(c).User()))
	stateOf(c).room = room
	switch {
	case errors.Is(err, shares.ErrShare):
		return &fault.Error{
			Code: fault.RateLimited, RetryAfter: time.Second, Cause: err,
			Message: "The owner of this API key sends too many large bodies at once. Send fewer at a time, and this one again in a second.",
		}
	case err != nil:
		return full(err)
	}
	return nil
}
