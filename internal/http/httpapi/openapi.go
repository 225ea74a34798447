package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// openAPI answers with the API's description, which never changes while the process lives.
func (a *api) openAPI(c *gin.Context) error {
	if _, err := query(c); err != nil {
		return err
	}
	h, body := c.Writer.Header(), a.deps.OpenAPI
	h.Set("Cache-Control", "public, max-age="+maxAge(time.Hour))
	h.Set("Vary", varyOpen)
	// Without a key anybody may ask for it, and it is large.
	if len(body) >= packable && acceptsGzip(c.Request.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		body = a.packedOpenAPI()
	}
	write(c, http.StatusOK, body)
	return nil
}

// packOpenAPI is for the first client that takes gzip; the others share what it returns.
func (a *api) packOpenAPI() []byte {
	a.packer.mu.Lock()
	defer a.packer.mu.Unlock()
	return a.packer.pack(a.deps.OpenAPI)
}
