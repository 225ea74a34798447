package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// slowTime bounds the work on a request that is about all members of a guild; requestTime more is for the answer.
const slowTime = 5 * time.Minute

// slowly gives a request slowTime in place of requestTime.
func slowly(h gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		// The request's own values, such as its id in the log, without its time; the connection still ends it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), slowTime)
		defer cancel()
		defer context.AfterFunc(stateOf(c).connection, cancel)()
		c.Request = c.Request.WithContext(ctx)
		// Without a connection, in tests, there is no deadline.
		_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(slowTime + requestTime))
		h(c)
	}
}
