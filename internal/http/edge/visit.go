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

// RequestTime bounds the work on one request. The stores time out sooner. It
// bounds waits in queues, such as for a large guild that is being loaded.
const RequestTime = 10 * time.Second

// Visit is one request: the data that its handlers share.
type Visit struct {
	ID         string // distinguishes lines of the log; not secret
	Began      time.Time
	Connection context.Context // ends with the connection, not with the request's time
	Caller     Caller
	Place      *shares.Place // among the running requests; nil for none
}

func (v *Visit) visit() *Visit { return v }

// Visited is a Visit, or a struct that embeds one.
type Visited interface{ visit() *Visit }

// Begin gives the request its id, its time and its patience (pause.WithPatience). The returned function ends its context.
func Begin(c *gin.Context, r Visited, patience time.Duration) context.CancelFunc {
	v := r.visit()
	v.ID, v.Began, v.Connection = rand.Text(), time.Now(), c.Request.Context()
	ctx, cancel := context.WithTimeout(v.Connection, RequestTime)
	ctx = logs.With(pause.WithPatience(ctx, patience), slog.String("requestId", v.ID))
	c.Request = c.Request.WithContext(context.WithValue(ctx, endless.RequestKey{}, r))
	return cancel
}

// Of returns the Visit that Begin stored.
func Of(c *gin.Context) *Visit {
	return c.Request.Context().Value(endless.RequestKey{}).(Visited).visit()
}
