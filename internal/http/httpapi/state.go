package httpapi

import (
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/http/edge"
	"levelboard/internal/http/endless"
	"levelboard/internal/platform/shares"
)

// state is what the handlers of one request share.
type state struct {
	edge.Visit
	room    *shares.Place // among the large bodies
	answer  *shares.Place // the bytes of an answer that is not taken yet
	answers *shares.Pool
	// streamed is when the answer of a stream began; zero for other answers.
	streamed time.Time
}

// begin gives the request its state, and returns what ends it.
func (a *api) begin(c *gin.Context) (*state, func()) {
	s := &state{answers: a.answers}
	end := edge.Begin(c, s, a.deps.Patience)
	return s, func() {
		s.release()
		s.answer.Release()
		end()
	}
}

// release gives back what the request held while it was worked on. Writing the answer is no work: a client that does not take it holds
// its connection and the bytes of the answer.
func (s *state) release() {
	s.room.Release()
	s.Place.Release()
}

// stateOf returns the state that begin made.
func stateOf(c *gin.Context) *state {
	s, _ := c.Request.Context().Value(endless.RequestKey{}).(*state)
	return s
}

func callerOf(c *gin.Context) edge.Caller { return stateOf(c).Caller }
