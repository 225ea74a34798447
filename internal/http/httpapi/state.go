package httpapi

import (
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/http/edge"
	"levelboard/internal/http/endless"
	"levelboard/internal/platform/shares"
)

// state is shared by the handlers of one request.
type state struct {
	edge.Visit
	room    *shares.Place // among the large bodies
	answer  *shares.Place // the bytes of an answer that its client has not read
	answers *shares.Pool
	// streamed is when the answer of a stream began; zero for other answers.
	streamed time.Time
}

// begin gives the request its state. The returned function ends it.
func (a *api) begin(c *gin.Context) (*state, func()) {
	s := &state{answers: a.answers}
	end := edge.Begin(c, s, a.deps.Patience)
	return s, func() {
		s.release()
		s.answer.Release()
		end()
	}
}

// release returns the request's places. They are for work, which ends before the answer is
// written: a client that does not read it holds only its connection and the bytes of the answer.
func (s *state) release() {
	s.room.Release()
	s.Place.Release()
}

// stateOf returns the state that begin stored.
func stateOf(c *gin.Context) *state {
	s, _ := c.Request.Context().Value(endless.RequestKey{}).(*state)
	return s
}

func callerOf(c *gin.Context) edge.Caller { return stateOf(c).Caller }
