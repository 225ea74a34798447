package httpapi

import (
	"log/slog"

	"github.com/gin-gonic/gin"

	"levelboard/internal/logs"
)

// nameRequest lets every line of the log that is written for this request, however deep down, carry its id.
func nameRequest(c *gin.Context) {
	c.Request = c.Request.WithContext(logs.With(c.Request.Context(), slog.String("requestId", requestID(c))))
}
