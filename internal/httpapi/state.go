package httpapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/endless"
	"levelboard/internal/logs"
)

// state is what the handlers of one request share. It is the request's context, so that it costs no lookup and no map.
type state struct {
	context.Context
	id     string
	began  time.Time
	caller caller
	// connection ends with the connection, not with the time of a request.
	connection context.Context
	limit      timeLimit
	// streamed is when the answer of a stream began; zero for other answers.
	streamed time.Time
}

type stateKey struct{}

// Value implements context.Context.
func (s *state) Value(key any) any {
	switch key {
	case stateKey{}, endless.RequestKey{}:
		return s
	case logs.ContextKey{}:
		return []slog.Attr{slog.String("requestId", s.id)}
	}
	return s.Context.Value(key)
}

// stateOf returns the state that observe made.
func stateOf(c *gin.Context) *state {
	s, _ := c.Request.Context().Value(stateKey{}).(*state)
	return s
}

func callerOf(c *gin.Context) caller { return stateOf(c).caller }
