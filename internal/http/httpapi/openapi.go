package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/http/edge"
)

// openAPI answers with the API's description, which never changes while the process lives.
func (a *api) openAPI(c *gin.Context) error {
	r := a.read(c)
	if r.parseQuery(); r.err != nil {
		return r.err
	}
	h, body := c.Writer.Header(), a.deps.OpenAPI
	h.Set("Cache-Control", "public, max-age="+maxAge(time.Hour))
	h.Set("Vary", varyOpen)
	// Without a key anybody may ask for it, and it is large.
	if len(body) >= edge.LeastPacked && edge.AcceptsGzip(c.Request.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		body = a.packedOpenAPI()
	}
	return write(c, http.StatusOK, body)
}
