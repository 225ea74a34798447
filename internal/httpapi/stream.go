package httpapi

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/trace"
)

const (
	// DefaultStreams is how many streams are open at the same time; one more is refused. Each has a goroutine, a connection
	// and its buffers, together some 50 KB.
	DefaultStreams   = 1000
	defaultKeepAlive = 15 * time.Second

	eventsRoute = "/guilds/:guildId/events"
)

// isStream tells the route whose answer has no end from the others.
func isStream(c *gin.Context) bool { return c.FullPath() == "/v2"+eventsRoute }

// Streams implements endless.Request.
func (s *state) Streams(c *gin.Context) (connection context.Context, ended func()) {
	s.streamed = time.Now()
	endSpan(c, trace.SpanFromContext(c.Request.Context()))
	requestsInFlight.Dec()
	streamsOpen.Inc()
	return s.connection, func() {
		streamsOpen.Dec()
		requestsInFlight.Inc()
	}
}
