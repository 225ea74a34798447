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
	// mostStreams is how many streams may be open; one more is rejected. Each has a goroutine, a connection and its buffers, together some 50 KB.
	mostStreams = 1000
	// streamsOfOwner is how many of them one owner of keys may have, so that none takes all. A bot may follow hundreds of guilds with one key.
	streamsOfOwner   = 250
	defaultKeepAlive = 15 * time.Second

	eventsRoute = "/guilds/:guildId/events"
)

// takeStream takes a place for a stream. It answers 429 when the owner of the caller's key has its share
// of streams open. It is not 503, since the service does not fail: other owners' streams continue.
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
