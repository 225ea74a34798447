package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/id"
)

const (
	// largeBodies is how many requests with a body larger than maxBody are worked on at the same time; more wait for their
	// turn. Each may need some megabytes, for what was sent, what was read out of it and what is answered.
	largeBodies = 64
	// refusedBodies is how many more there are of those whose key may not do what they ask for. They are refused only once
	// their body was found well-formed, and until then must not take the places of those who may.
	refusedBodies = 4
	// largeBodyTime is how long a large body may take to arrive once it has its place, which nobody else has meanwhile.
	largeBodyTime = 5 * time.Second
)

// isLarge reports whether the body may be larger than maxBody.
func isLarge(r *http.Request) bool { return r.ContentLength < 0 || r.ContentLength > maxBody }

// holdLargeBody waits until there is room for the request's body, which is about guild g; free gives the room back. A small
// body needs none.
func (a *API) holdLargeBody(c *gin.Context, g id.Guild) (free func(), err error) {
	if !isLarge(c.Request) {
		return func() {}, nil
	}
	places := a.largeBodies
	if mayDo(c, g) != nil {
		places = a.refusedBodies
	}
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-c.Request.Context().Done():
		return nil, full()
	}
}

// largeBody is body where one may be large, for who holds the room for it: then it has to arrive soon.
func largeBody(c *gin.Context, limit int64) ([]byte, error) {
	if isLarge(c.Request) {
		// It is for the body alone: net/http takes the deadline back at the end of the body, and what is left of one that is refused
		// may take no longer to be skipped. Without a connection, in tests, there is none.
		_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(largeBodyTime))
	}
	return body(c, limit)
}
