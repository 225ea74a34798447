// Package endless writes streaming answers. Each write is flushed and has its own deadline. A stream ends when
// the client disconnects or the service stops. The caller decides what to send, and bounds the number of streams.
package endless

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// RetryAfter is how long a caller with too many streams must wait. It is a guess, since a stream may end at any time.
	RetryAfter = 30 * time.Second
	// writeTime is how long a client may read nothing before its stream is ended.
	writeTime = 10 * time.Second
	// endTime is how long the client gets to read what was written, when the service ends a stream.
	endTime = 250 * time.Millisecond
)

// RequestKey is the context key under which the router stores each request's Request.
type RequestKey struct{}

// Request tells the router, which bounds and measures requests, about a stream.
type Request interface {
	// Streams notes that an endless answer begins now. It returns the context of the connection,
	// which lacks the bounds of the request's, and a function that notes the end of the stream.
	Streams(c *gin.Context) (connection context.Context, ended func())
}

// Stream is an endless answer. Its methods are for one goroutine.
type Stream struct {
	ctx  context.Context
	w    http.ResponseWriter
	conn *http.ResponseController
	ends <-chan struct{}
}

// Begin sends the headers. From then on each write has a deadline of its own, in place of the request's and the
// listener's bounds. After ends is closed, a running write has endTime left. Call the returned function at the end.
func Begin(c *gin.Context, ends <-chan struct{}) (*Stream, func()) {
	// Use the writer below Gin's, since Gin's drops the errors of Flush.
	w := c.Writer.(interface{ Unwrap() http.ResponseWriter }).Unwrap()
	s := &Stream{w: w, conn: http.NewResponseController(w), ends: ends}
	// The listener's deadline for reading a request would end the connection.
	_ = s.conn.SetReadDeadline(time.Time{})
	c.Writer.WriteHeaderNow()
	connection, ended := c.Request.Context(), func() {}
	if r, ok := connection.Value(RequestKey{}).(Request); ok {
		connection, ended = r.Streams(c)
	}
	ctx, cancel := context.WithCancel(connection)
	s.ctx = ctx
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
		ended()
	}
}

// Context ends with the connection or the stream.
func (s *Stream) Context() context.Context { return s.ctx }

// Write sends the text at once. It fails when the client has read nothing for ten seconds, and when the service ends the stream.
func (s *Stream) Write(text []byte) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	select {
	case <-s.ends: // the deadline of ends may have been set before this write's
		return context.Canceled
	default:
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.conn.Flush()
}
