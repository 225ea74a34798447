package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/signin"
)

// eraseWord is what somebody types who wants their data erased, in this case alone.
const eraseWord = "erase"

// personalData is the part of the profile about the stored data: what there is, and the form that erases it.
type personalData struct {
	erasure.Stored
	Word  string // to be typed
	Wrong bool   // another one was
}

// eraseUser erases all of who is signed in, and with it the session.
func (s *Site) eraseUser(c *gin.Context, session *signin.Session, sent url.Values) error {
	if strings.TrimSpace(sent.Get("confirm")) != eraseWord {
		form := newKeyForm()
		form.EraseWrong = true
		return s.showProfile(c, session, http.StatusUnprocessableEntity, form)
	}
	err := s.deps.Users.Erase(c.Request.Context(), session.User.ID)
	if err != nil && !errors.Is(err, erasure.ErrContinues) {
		return err
	}
	s.cookies.clear(c, s.cookies.session)
	address := "/profile/erased"
	if err != nil {
		address += "?soon=1"
	}
	c.Redirect(http.StatusSeeOther, address)
	return nil
}

// erased is where eraseUser leads.
func (s *Site) erased(c *gin.Context) error {
	return s.show(c, http.StatusOK, "erased", "Your data", c.Query("soon") != "")
}
