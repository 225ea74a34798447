package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/trace"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/endless"
	"levelboard/internal/platform/shares"
)

const (
	// mostStreams is how many streams are open at the same time; one more is refused. Each has a goroutine, a connection
	// and its buffers, together some 50 KB.
	mostStreams = 1000
	// streamsOfOwner is how many of them may be of one owner of keys, so that no owner can take all from the others. A bot may
	// follow hundreds of guilds with one key.
	streamsOfOwner   = 250
	defaultKeepAlive = 15 * time.Second

	eventsRoute = "/guilds/:guildId/events"
)

// takeStream takes one of the streams that may be open. It is 429 when the owner of the caller's key has a share of them open, which is
// that owner's own doing: the others' streams continue, and 503 would say that the service fails.
func (a *api) takeStream(c *gin.Context) (*shares.Place, error) {
	place, err := a.streams.Take(string(callerOf(c).User()))
	switch {
	case errors.Is(err, shares.ErrShare):
		return nil, &fault.Error{
			Code: fault.RateLimited, RetryAfter: endless.RetryAfter,
			Message: "The owner of this API key has too many streams open. Close one, then try again after as many seconds as the Retry-After header says.",
		}
	case err != nil:
		turnedAway.Inc()
		return nil, full(err)
	}
	return place, nil
}

// Streams implements endless.Request.
func (s *state) Streams(c *gin.Context) (connection context.Context, ended func()) {
	s.streamed = time.Now()
	s.release()
	endSpan(c, trace.SpanFromContext(c.Request.Context()))
	requestsInFlight.Dec()
	streamsOpen.Inc()
	return s.Connection, func() {
		streamsOpen.Dec()
		requestsInFlight.Inc()
	}
}
