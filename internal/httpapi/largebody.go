package httpapi

import "github.com/gin-gonic/gin"

// largeBodies is how many requests with a body larger than maxBody are worked on at the same time; more wait for their turn.
// Each may need some megabytes, for what was sent, what was read out of it and what is answered.
const largeBodies = 64

// holdLargeBody waits until there is room for the request's body; free gives the room back. A small body needs none.
func (a *API) holdLargeBody(c *gin.Context) (free func(), err error) {
	if length := c.Request.ContentLength; length >= 0 && length <= maxBody {
		return func() {}, nil
	}
	select {
	case a.largeBodies <- struct{}{}:
		return func() { <-a.largeBodies }, nil
	case <-c.Request.Context().Done():
		return nil, full()
	}
}
