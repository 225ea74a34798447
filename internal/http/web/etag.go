package web

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
	"levelboard/internal/http/etag"
)

// showTagged is show for a page that a browser may keep and ask for again by its ETag. A private guild's is not kept: it
// would be there for the next who sits at the machine.
func (s *Site) showTagged(c *gin.Context, g *guild.Guild, name, title string, content any) error {
	page, err := s.render(c, name, title, content)
	if err != nil {
		return err
	}
	if g.Visibility == guild.Public {
		c.Header("Cache-Control", "private, no-cache")
	}
	digest := sha256.Sum256(page)
	if tagged(c, `"`+hex.EncodeToString(digest[:12])+`"`) {
		return nil
	}
	c.Data(http.StatusOK, "text/html; charset=utf-8", page)
	return nil
}

// tagged sets the ETag, and answers 304 and reports true when the browser has what it names.
func tagged(c *gin.Context, tag string) bool {
	c.Header("ETag", tag)
	_, has := etag.Match(c.Request.Header.Values("If-None-Match"), tag)
	if has {
		c.Status(http.StatusNotModified)
	}
	return has
}
