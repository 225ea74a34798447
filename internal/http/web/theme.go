package web

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// themeCookie holds the theme that a browser chose, light or dark. Without it, the system's theme is used.
	themeCookie = "levelboard-theme"
	themeTime   = 365 * 24 * time.Hour
)

// themeOf returns the browser's choice, or "" for the system's theme.
func themeOf(c *gin.Context) string {
	cookie, err := c.Cookie(themeCookie)
	if err != nil || cookie != "light" && cookie != "dark" {
		return ""
	}
	return cookie
}

// chooseTheme saves the choice, or drops it for the system's theme, and redirects to the page.
func (s *Site) chooseTheme(c *gin.Context) error {
	sent, err := readForm(c)
	if err != nil {
		return err
	}
	if theme := sent.Value("theme"); theme == "light" || theme == "dark" {
		s.cookies.set(c, themeCookie, theme, themeTime)
	} else {
		s.cookies.clear(c, themeCookie)
	}
	c.Redirect(http.StatusSeeOther, safeNext(sent.Value("next")))
	return nil
}
