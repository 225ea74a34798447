package web

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
	"levelboard/internal/usecase/signin"
)

// callbackPath is where the provider sends the browser back to.
const callbackPath = "/sign-in/callback"

// RedirectURL returns the address that must be registered with the provider. publicURL is that of the pages.
func RedirectURL(publicURL string) string { return publicURL + callbackPath }

// signInsOfAddress is how many codes one address may redeem in a minute. Each is a
// request to the provider with our client secret, and anybody can make up codes.
const signInsOfAddress = 20

// SignIn signs users in and out (signin.Sessions).
type SignIn interface {
	Address(state, verifier string) string
	Enter(ctx context.Context, code, verifier string) (secret string, err error)
	Denied(errorCode string) error
	Locals() []signin.Local
	EnterLocally(ctx context.Context, n int) (secret string, err error)
	Find(ctx context.Context, secret string) (*signin.Session, error)
	End(ctx context.Context, secret string) error
	EndAll(ctx context.Context, secret string) error
}

// signInPage is the content of the sign-in page.
type signInPage struct {
	Next     string
	Provider bool
	Locals   []signin.Local
	Callback string // the address that an operator must register
}

func (s *Site) signInPage(c *gin.Context) error {
	content := signInPage{Next: safeNext(c.Query("next")), Provider: s.provider(), Callback: RedirectURL(s.deps.PublicURL)}
	if s.localSignIn(c.Request) {
		content.Locals = s.deps.SignIn.Locals()
	}
	if sessionOf(c) != nil {
		c.Redirect(http.StatusSeeOther, content.Next)
		return nil
	}
	if content.Provider && len(content.Locals) == 0 { // there is only one way to sign in
		c.Redirect(http.StatusSeeOther, "/sign-in/provider?next="+url.QueryEscape(content.Next))
		return nil
	}
	return s.show(c, http.StatusOK, "sign-in", "Sign in", content)
}

func (s *Site) provider() bool { return s.deps.SignIn != nil && s.deps.SignIn.Address("", "") != "" }

// CanSignIn reports whether there is a way to sign in.
func (s *Site) CanSignIn() bool {
	return s.deps.SignIn != nil && (s.provider() || len(s.deps.SignIn.Locals()) > 0)
}

// toProvider sends the browser to the provider.
func (s *Site) toProvider(c *gin.Context) error {
	if !s.provider() {
		return signInOff()
	}
	next := safeNext(c.Query("next"))
	if public, err := url.Parse(s.deps.PublicURL); err == nil && c.Request.Host != public.Host && Loopback(public.Host) && Loopback(c.Request.Host) {
		// The provider sends the browser back to 127.0.0.1, which does not get the cookies of localhost. Other names may be a proxy's.
		c.Redirect(http.StatusSeeOther, s.deps.PublicURL+"/sign-in/provider?next="+url.QueryEscape(next))
		return nil
	}
	f := newFlow(next, s.deps.Now())
	s.dropFlows(c)
	s.cookies.set(c, s.cookies.flowCookie(f.State), f.encode(), flowTime)
	c.Redirect(http.StatusSeeOther, s.deps.SignIn.Address(f.State, f.Verifier))
	return nil
}

// fromProvider handles the return from the provider with a code. It uses up the flow, whatever the result.
func (s *Site) fromProvider(c *gin.Context) error {
	if !s.provider() {
		return signInOff()
	}
	f, ok := s.takeFlow(c, c.Query("state"))
	if !ok {
		return again("This sign-in was started in another browser, or it expired.")
	}
	comeBackTo(c, f.Next)
	if c.Query("error") != "" || c.Query("code") == "" {
		err := s.deps.SignIn.Denied(c.Query("error"))
		if errors.Is(err, signin.ErrRefused) {
			return again("The sign-in was declined at the provider.")
		}
		return providerFails(err, failsForNow)
	}
	if err := s.chargeSignIn(c); err != nil {
		return err
	}
	secret, err := s.deps.SignIn.Enter(c.Request.Context(), c.Query("code"), f.Verifier)
	switch {
	case err == nil:
		s.enter(c, secret, f.Next)
		return nil
	case errors.Is(err, signin.ErrRefused):
		return again("This sign-in has expired.")
	case errors.Is(err, signin.ErrBusy):
		return providerFails(err, "Too many people are signing in right now. Try again in a few seconds.")
	}
	return providerFails(err, failsForNow)
}

const failsForNow = "Sign-in is temporarily unavailable. Pages that don't need it still work."

func providerFails(cause error, message string) error {
	return &fault.Error{Code: fault.Unavailable, RetryAfter: retryProvider, Cause: cause, Message: message}
}

// enter gives the browser a new session, and ends its previous one.
func (s *Site) enter(c *gin.Context, secret, next string) {
	if old, err := c.Cookie(s.cookies.session); err == nil {
		if err := s.deps.SignIn.End(c.Request.Context(), old); err != nil {
			s.log.Warn("the previous session could not be ended; it expires", "error", err)
		}
	}
	s.cookies.set(c, s.cookies.session, secret, signin.LifeTime)
	c.Redirect(http.StatusSeeOther, safeNext(next))
}

// enterLocally signs in as a user of the demo.
func (s *Site) enterLocally(c *gin.Context) error {
	if !s.localSignIn(c.Request) {
		return fault.New(fault.NotFound, "There is no page at this address.")
	}
	sent, err := readForm(c)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(sent.Value("as"))
	if err != nil {
		n = -1 // no user
	}
	secret, err := s.deps.SignIn.EnterLocally(c.Request.Context(), n)
	if errors.Is(err, signin.ErrRefused) {
		return again("Choose an account.")
	}
	if err != nil {
		return fault.Down("sign in locally", err)
	}
	s.enter(c, secret, sent.Value("next"))
	return nil
}

// byProxy are the headers by which a request shows that it came through a proxy.
var byProxy = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"}

// localSignIn reports whether this request may sign in without a provider. It must come from this machine, under one of its own
// names (against DNS rebinding), without a proxy's headers, and from a page under such a name (against a proxy without headers).
func (s *Site) localSignIn(r *http.Request) bool {
	if s.deps.SignIn == nil || len(s.deps.SignIn.Locals()) == 0 || !Loopback(r.Host) {
		return false
	}
	if slices.ContainsFunc(byProxy, func(name string) bool { return len(r.Header.Values(name)) > 0 }) {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || !Loopback(u.Host) {
			return false
		}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback()
}

// signOut ends the session of this browser or, with everywhere, all of the user's sessions.
func (s *Site) signOut(everywhere bool) edge.Handler {
	return func(c *gin.Context) error {
		secret, err := c.Cookie(s.cookies.session)
		if s.deps.SignIn != nil && err == nil {
			end := s.deps.SignIn.End
			if everywhere {
				end = s.deps.SignIn.EndAll
			}
			if err := end(c.Request.Context(), secret); err != nil {
				return fault.Down("end sessions", err)
			}
		}
		s.cookies.clear(c, s.cookies.session)
		c.Redirect(http.StatusSeeOther, "/")
		return nil
	}
}

// again is the fault for a sign-in that must start again.
func again(why string) error {
	return fault.New(fault.Unauthenticated, "%s Start again.", why)
}

func signInOff() error {
	return fault.New(fault.NotFound, "Sign-in is disabled here. The sign-in page explains how the operator can enable it.")
}
