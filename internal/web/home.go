package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
)

// home says what this is, and leads on.
func (s *Site) home(c *gin.Context) error {
	return s.show(c, http.StatusOK, "home", "Levels for your community", nil)
}

// findLeaderboard is where the form of the start page leads, which works without script.
func (s *Site) findLeaderboard(c *gin.Context) error {
	entry := strings.TrimSpace(c.Query("entry"))
	if entry == "" {
		c.Redirect(http.StatusSeeOther, "/")
		return nil
	}
	c.Redirect(http.StatusSeeOther, "/leaderboard/"+url.PathEscape(entry))
	return nil
}
