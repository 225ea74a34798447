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
	// largeBodies is how many requests with a body larger than maxBody are worked on at the same time; more wait for their
	// turn. Each may need some megabytes, for what was sent, what was read out of it and what is answered.
	largeBodies = 64
	// largeBodiesOfOwner is how many of them may be one owner's, whose keys could otherwise hold them all by sending slowly. It is
	// more than keeps Redis busy.
	largeBodiesOfOwner = 32
	// refusedBodies is how many more there are of those whose key may not do what they ask for. They are refused only once
	// their body was found well-formed, and until then must not take the places of those who may.
	refusedBodies = 4
)

// maxLargeBody is the largest body of the routes that take large ones, in bytes.
const maxLargeBody = 1 << 20

// holdLargeBody waits until there is room for the request's body, which is about guild g. A small body needs none.
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
