package edge

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

// RequestTime bounds the work on one request. The stores fail faster than this; it is for what waits in a queue, such as
// a request for a large guild that is being loaded.
const RequestTime = 10 * time.Second

// Visit is one request, and what its handlers share.
type Visit struct {
	ID         string // tells lines of the log apart, and is no secret
	Began      time.Time
	Connection context.Context // ends with the connection, not with the time of a request
	Caller     Caller
	Place      *shares.Place // among the requests in progress; nil for none
}

func (v *Visit) visit() *Visit { return v }

// Visited is a Visit, or a struct that embeds one.
type Visited interface{ visit() *Visit }

// Begin gives the request its id, its time and its patience (pause.WithPatience), and returns what ends them.
func Begin(c *gin.Context, r Visited, patience time.Duration) context.CancelFunc {
	v := r.visit()
	v.ID, v.Began, v.Connection = rand.Text(), time.Now(), c.Request.Context()
	ctx, cancel := context.WithTimeout(v.Connection, RequestTime)
	ctx = logs.With(pause.WithPatience(ctx, patience), slog.String("requestId", v.ID))
	c.Request = c.Request.WithContext(context.WithValue(ctx, endless.RequestKey{}, r))
	return cancel
}

// Of returns the visit that Begin began.
func Of(c *gin.Context) *Visit {
	return c.Request.Context().Value(endless.RequestKey{}).(Visited).visit()
}
