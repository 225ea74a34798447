package httpapi

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/http/endless"
	"levelboard/internal/platform/logs"
	"levelboard/internal/platform/pause"
	"levelboard/internal/platform/shares"
)

// state is what the handlers of one request share.
type state struct {
	id    string
	began time.Time
	// connection ends with the connection, not with the time of a request.
	connection context.Context
	caller     caller
	place      *shares.Place // among the requests in progress
	room       *shares.Place // among the large bodies
	answer     *shares.Place // the bytes of an answer that is not taken yet
	answers    *shares.Pool
	// streamed is when the answer of a stream began; zero for other answers.
	streamed time.Time
}

// begin gives the request its state, its time and its patience, and returns what ends them. Its id tells lines of the log apart and keeps no secret.
func (a *api) begin(c *gin.Context) (*state, context.CancelFunc) {
	s := &state{id: rand.Text(), began: time.Now(), connection: c.Request.Context(), answers: a.answers}
	ctx, cancel := context.WithTimeout(s.connection, requestTime)
	ctx = logs.With(pause.WithPatience(ctx, a.deps.Patience), slog.String("requestId", s.id))
	c.Request = c.Request.WithContext(context.WithValue(ctx, endless.RequestKey{}, endless.Request(s)))
	return s, func() {
		s.release()
		s.answer.Release()
		cancel()
	}
}

// release gives back what the request held while it was worked on. Writing the answer is no work: a client that does not take it holds
// its connection and the bytes of the answer.
func (s *state) release() {
	s.room.Release()
	s.place.Release()
}

// stateOf returns the state that begin made.
func stateOf(c *gin.Context) *state {
	s, _ := c.Request.Context().Value(endless.RequestKey{}).(*state)
	return s
}

func callerOf(c *gin.Context) caller { return stateOf(c).caller }
