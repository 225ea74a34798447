// Package endless writes streaming answers. Each write is flushed and has a deadline of its own; a stream ends when the client leaves or the
// service stops. The caller decides what is sent and how many streams there may be.
package endless

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// RetryAfter is how long a caller with too many streams waits; nobody knows when one ends.
	RetryAfter = 30 * time.Second
	// writeTime is how long a client may take nothing before its stream is ended.
	writeTime = 10 * time.Second
	// endTime is how long what was written may take to get away when a stream is ended from here.
	endTime = 250 * time.Millisecond
)

// RequestKey is the context key under which the router keeps each request's Request.
type RequestKey struct{}

// Request is what a router that bounds and measures requests lets a stream do.
type Request interface {
	// Streams notes that the answer begins now and has no end. It returns the context of the connection, which is not bounded
	// like the request's, and what notes that it ended after all.
	Streams(c *gin.Context) (connection context.Context, ended func())
}

// Stream is an answer that has no end. Its methods are for one goroutine.
type Stream struct {
	ctx  context.Context
	w    http.ResponseWriter
	conn *http.ResponseController
	ends <-chan struct{}
}

// Begin sends the headers. From then on each write has a time of its own, in place of the request's and the listener's bounds. After ends is
// closed a write that is under way has a moment left. Call the returned function at the end.
func Begin(c *gin.Context, ends <-chan struct{}) (*Stream, func()) {
	// The one below Gin's, which would keep the errors of Flush to itself.
	w := c.Writer.(interface{ Unwrap() http.ResponseWriter }).Unwrap()
	s := &Stream{w: w, conn: http.NewResponseController(w), ends: ends}
	// What the listener gives for reading a request would end the connection.
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

// Context ends with the connection, or with the stream.
func (s *Stream) Context() context.Context { return s.ctx }

// Write sends the text at once. It fails when the client took nothing for ten seconds, and when the stream is ended from here.
func (s *Stream) Write(text []byte) error {
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
