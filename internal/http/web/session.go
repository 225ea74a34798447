package web

import (
	"errors"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/usecase/signin"
)

const sessionKey = "levelboard.session"

// sessionOf returns the session of who asks for the page; nil when nobody is signed in. It is the one place that handlers learn it
// from.
func sessionOf(c *gin.Context) *signin.Session {
	known, _ := c.Get(sessionKey)
	session, _ := known.(*signin.Session)
	return session
}

// signedIn returns the session of a page that needs one, or the fault that leads to the sign-in page; why says what for.
func signedIn(c *gin.Context, why string) (*signin.Session, error) {
	if session := sessionOf(c); session != nil {
		return session, nil
	}
	return nil, fault.New(fault.Unauthenticated, "%s", why)
}

// identify finds out who asks and charges them, before anything else costs work.
func (s *Site) identify(c *gin.Context) {
	session, err := s.find(c)
	if errors.Is(err, signin.ErrNoSession) {
		s.cookies.clear(c, s.cookies.session)
		err = nil
	}
	c.Set(sessionKey, session)
	if err == nil {
		err = s.charge(c, session)
	}
	if err != nil {
		s.fail(c, err)
	}
}

// Session returns the session of the cookie; nil without one, or when it is nobody's.
func (s *Site) Session(c *gin.Context) (*signin.Session, error) {
	found, err := s.find(c)
	if errors.Is(err, signin.ErrNoSession) {
		return nil, nil
	}
	return found, err
}

// find is Session, with signin.ErrNoSession for a cookie that is nobody's.
func (s *Site) find(c *gin.Context) (*signin.Session, error) {
	secret, err := c.Cookie(s.cookies.session)
	if s.deps.SignIn == nil || err != nil || secret == "" {
		return nil, nil
	}
	found, err := s.deps.SignIn.Find(c.Request.Context(), secret)
	if err != nil && !errors.Is(err, signin.ErrNoSession) {
		err = fault.Down("find a session", err)
	}
	return found, err
}
