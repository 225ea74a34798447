package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/trace"
)

const (
	// DefaultStreams is how many streams are open at the same time; one more is refused. Each has a goroutine, a connection
	// and its buffers, together some 50 KB.
	DefaultStreams   = 1000
	defaultKeepAlive = 15 * time.Second
	// writeTime is how long a client may take nothing before its stream is ended.
	writeTime = 10 * time.Second
	// endTime is how long what was written may take to get away when a stream is ended from here.
	endTime = 250 * time.Millisecond

	eventsRoute = "/guilds/:guildId/events"
)

// isStream tells the route whose answer has no end from the others.
func isStream(c *gin.Context) bool { return c.FullPath() == "/v2"+eventsRoute }

// stream is an answer that has no end.
type stream struct {
	ctx  context.Context // ends with the connection, or with the stream
	w    http.ResponseWriter
	conn *http.ResponseController
	ends <-chan struct{}
}

// beginStream sends the headers. From then on neither the time of a request nor the listener's bounds hold, but that each
// write has a time of its own. When ends is closed, a write that is under way has a moment left. Call the returned function
// at the end.
func beginStream(c *gin.Context, ends <-chan struct{}) (*stream, func()) {
	ctx, cancel := context.WithCancel(stateOf(c).connection)
	// The one below Gin's, which would keep the errors of Flush to itself.
	w := c.Writer.(interface{ Unwrap() http.ResponseWriter }).Unwrap()
	s := &stream{ctx: ctx, w: w, conn: http.NewResponseController(w), ends: ends}
	// What the listener gives for reading a request would end the connection.
	_ = s.conn.SetReadDeadline(time.Time{})
	c.Writer.WriteHeaderNow()
	stateOf(c).streamed = time.Now()
	endSpan(c, trace.SpanFromContext(c.Request.Context()))
	requestsInFlight.Dec()
	streamsOpen.Inc()
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		select {
		case <-ends:
			_ = s.conn.SetWriteDeadline(time.Now().Add(endTime))
		case <-ctx.Done():
		}
	}()
	return s, func() {
		cancel()
		<-watching
		streamsOpen.Dec()
		requestsInFlight.Inc()
	}
}

// write sends the text at once.
func (s *stream) write(text []byte) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	select {
	case <-s.ends: // it may have set its deadline before this one was set
		return context.Canceled
	default:
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.conn.Flush()
}
