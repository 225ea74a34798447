package httpapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/endless"
	"levelboard/internal/leaderboard"
	"levelboard/internal/logs"
	"levelboard/internal/ratelimit"
)

// state is what the handlers of one request share. It is the request's context, so that it costs no lookup and no map.
type state struct {
	leaderboard.PatientContext // with limit
	limit                      timeLimit
	// connection ends with the connection, not with the time of a request.
	connection context.Context

	id      string
	began   time.Time
	caller  caller
	budgets [2]ratelimit.Budget // that the request is charged to
	// streamed is when the answer of a stream began; zero for other answers.
	streamed time.Time
}

type stateKey struct{}

// Begin returns the context of a request that began then and whose connection has ctx. A server that makes a context for each request
// gives it this one; for a request with another it is made later, and then the request is copied once more.
func Begin(ctx context.Context, began time.Time) context.Context {
	s := &state{id: newRequestID(), began: began, connection: ctx}
	s.limit.Context, s.limit.ends = ctx, began.Add(requestTime)
	s.Context = &s.limit
	return s
}

// Value implements context.Context.
func (s *state) Value(key any) any {
	switch key {
	case stateKey{}, endless.RequestKey{}:
		return s
	case logs.ContextKey{}:
		return []slog.Attr{slog.String("requestId", s.id)}
	}
	return s.PatientContext.Value(key)
}

// stateOf returns the state that observe made.
func stateOf(c *gin.Context) *state {
	s, _ := c.Request.Context().Value(stateKey{}).(*state)
	return s
}

func callerOf(c *gin.Context) caller { return stateOf(c).caller }
