package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/usecase/signin"
)

const sessionKey = "levelboard.session"

// sessionOf returns the session of who asks for the page; nil when nobody is signed in.
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

// cookies are the cookies of sign-in. Over https the prefix __Host- binds them to this host. Plain http, for loopback only, forbids it.
type cookies struct {
	session string // name of the cookie with the session's secret
	flow    string // how the names of the cookies begin that have what a sign-in that is under way needs, one for each
	secure  bool
}

// newCookies fails where cookies would travel in clear over a network.
func newCookies(publicURL string) (cookies, error) {
	u, err := url.Parse(publicURL)
	switch {
	case err != nil || u.Host == "":
		return cookies{}, fmt.Errorf("the public address %q is not a URL with a host", publicURL)
	case u.Scheme == "https":
		return cookies{session: "__Host-levelboard", flow: "__Host-levelboard-sign-in", secure: true}, nil
	case !loopbackHost(u.Host):
		return cookies{}, fmt.Errorf("the public address %q must begin with https:// for people to sign in, unless it is loopback", publicURL)
	}
	return cookies{session: "levelboard", flow: "levelboard-sign-in"}, nil
}

// loopbackHost reports whether host, with or without a port, names this machine.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}

func (k cookies) set(c *gin.Context, name, value string, life time.Duration) {
	http.SetCookie(c.Writer, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()),
		Secure: k.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func (k cookies) clear(c *gin.Context, name string) { k.set(c, name, "", -time.Second) }
