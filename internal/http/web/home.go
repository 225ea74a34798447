package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
)

// homePage is the content of the start page.
type homePage struct {
	Known       bool        // who is signed in, and which communities are theirs
	Communities []community // that they manage and that are set up here
}

// home says what this is, and leads on: who manages a community, to their own.
func (s *Site) home(c *gin.Context) error {
	content := homePage{}
	if session := sessionOf(c); session != nil && !session.Unconfirmed {
		var err error
		content.Communities, err = s.grantable(c.Request.Context(), session)
		if content.Known = err == nil; !content.Known {
			// The rest of the page is for everybody, whatever does not answer.
			s.log.WarnContext(c.Request.Context(), "the start page leaves out somebody's communities", "error", err)
		}
	}
	return s.show(c, http.StatusOK, "home", "Levels for your community", content)
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
