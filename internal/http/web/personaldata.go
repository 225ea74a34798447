package web

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/signin"
)

// eraseWord is the word to type to erase one's data. Its case matters.
const eraseWord = "erase"

// eraseUser erases all data about the signed-in user, including the session.
func (s *Site) eraseUser(c *gin.Context, session *signin.Session, sent *form) error {
	if sent.Value("confirm") != eraseWord {
		sent.refuse("confirm", "Nothing was erased. This is not the word.")
		return s.showProfile(c, session, sent)
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

// erased is the page that eraseUser redirects to.
func (s *Site) erased(c *gin.Context) error {
	return s.show(c, http.StatusOK, "erased", "Your data", c.Query("soon") != "")
}
