package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/shares"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/signin"
)

// maxInFlight bounds the pages that are being rendered, each into at most some 200 KB of memory. One more is rejected at once.
const maxInFlight = 256

// pagesOfAddress is how many of these one address may have.
const pagesOfAddress = maxInFlight / 4

// contentPolicy allows our own files, and avatars. It never allows scripts or styles in the page itself.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' " + imageHost + "; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// The maximum sizes of forms, in bytes. Settings are at most 256 KiB of JSON. In a form, a byte of a name that is not ASCII takes three.
const (
	maxForm         = 64 << 10
	maxSettingsForm = 1 << 20
)

// retryProvider is how long users are asked to wait when the provider of sign-in does not respond.
const retryProvider = 10 * time.Second

// imageHost serves avatars and icons.
const imageHost = "https://cdn.discordapp.com"

// guard sets the headers of every page, bounds the size of a sent form, and rejects changes that another site's page sends.
func (s *Site) guard(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding, Cookie")
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, cmp.Or(pageOf(c).limit, maxForm))
	if err := s.origins.Check(c.Request); err != nil {
		s.fail(c, fault.Wrap(err, fault.Forbidden, "This request came from another site and was rejected. Open the page here and try again."))
	}
}

// readForm reads the sent fields: of a POST's body, or of the address. Only a guild's settings can be too large for it.
func readForm(c *gin.Context) (*form, error) {
	if c.Request.Method != http.MethodPost {
		return &form{sent: c.Request.URL.Query()}, nil
	}
	err := edge.Receive(c, edge.BodyTime, c.Request.ParseForm)
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return &form{sent: c.Request.PostForm}, nil
	case errors.Is(err, shares.ErrFull):
		return nil, crowded(err)
	case errors.As(err, &large):
		return nil, fault.Wrap(err, fault.TooLarge, "The form is too large. "+
			"The operator can apply large settings with the command levelboard guild apply.")
	}
	return nil, fault.Wrap(err, fault.Invalid, "The form arrived incomplete. Go back and submit it again.")
}

// trusting rejects changes from other origins. It trusts the public address, because a proxy may change the Host.
func trusting(publicURL string) (*http.CrossOriginProtection, error) {
	u, err := url.Parse(publicURL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the public address %q is not a URL with a host", publicURL)
	}
	p := http.NewCrossOriginProtection()
	if err := p.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
		return nil, fmt.Errorf("trust the public address: %w", err)
	}
	return p, nil
}

// admit rejects a page when too many are being rendered, in total or for the address.
func (s *Site) admit(c *gin.Context) {
	place, err := s.inFlight.Take(ratelimit.ClientName(c.ClientIP()))
	if err != nil {
		s.fail(c, crowded(err))
		return
	}
	edge.Of(c).Place = place
	defer place.Release()
	c.Next()
}

func crowded(why error) error {
	return &fault.Error{
		Code: fault.Unavailable, RetryAfter: time.Second, Cause: why,
		Message: "The service is busy. Try again in a second.",
	}
}

// charge takes one request from the budget of the user, or else the address. Their calls of /v2 are charged to the same budget.
func (s *Site) charge(c *gin.Context, session *signin.Session) error {
	user := ""
	if session != nil {
		user = string(session.User.ID)
	}
	_, err := edge.Charge(c.Request.Context(), s.deps.Limiter, "You sent too many requests.", ratelimit.OfIdentity(user, c.ClientIP(), s.deps.IdentityLimit))
	return err
}

// chargeSignIn charges a sign-in to the address. This limit cannot be turned off, and holds for users who are signed in.
func (s *Site) chargeSignIn(c *gin.Context) error {
	budget := ratelimit.Budget{Scope: ratelimit.ScopeSignIn, Name: ratelimit.ClientName(c.ClientIP()), PerMinute: signInsOfAddress}
	_, err := edge.Charge(c.Request.Context(), s.deps.Limiter, "There were too many sign-ins from your address. Try again later.", budget)
	return err
}

// sessionOf returns the visitor's session, or nil if nobody is signed in.
func sessionOf(c *gin.Context) *signin.Session { return edge.Of(c).Caller.Session }

// signedIn returns the session of a page that needs one, or the fault that leads to the sign-in page. why says why the page needs it.
func signedIn(c *gin.Context, why string) (*signin.Session, error) {
	if session := sessionOf(c); session != nil {
		return session, nil
	}
	return nil, fault.New(fault.Unauthenticated, "%s", why)
}

// identify finds the visitor's session and charges the visitor, before other work.
func (s *Site) identify(c *gin.Context) {
	session, err := s.find(c.Request.Context(), c)
	if errors.Is(err, signin.ErrNoSession) {
		s.cookies.clear(c, s.cookies.session)
		err = nil
	}
	edge.Of(c).Caller.Session = session
	if err == nil {
		err = s.charge(c, session)
	}
	if err != nil {
		s.fail(c, err)
		return
	}
	if session != nil && c.Request.Method == http.MethodPost {
		by := audit.By{Actor: audit.Actor{Kind: audit.User, ID: string(session.User.ID), Name: session.User.Name}, RequestID: edge.Of(c).ID}
		c.Request = c.Request.WithContext(audit.With(c.Request.Context(), by))
	}
}

// Session returns the session of the cookie. It is nil without a cookie, and for a cookie without a session.
func (s *Site) Session(c *gin.Context) (*signin.Session, error) {
	return s.session(c.Request.Context(), c)
}

func (s *Site) session(ctx context.Context, c *gin.Context) (*signin.Session, error) {
	found, err := s.find(ctx, c)
	if errors.Is(err, signin.ErrNoSession) {
		return nil, nil
	}
	return found, err
}

// find is session, but returns signin.ErrNoSession for a cookie without a session.
func (s *Site) find(ctx context.Context, c *gin.Context) (*signin.Session, error) {
	secret, err := c.Cookie(s.cookies.session)
	if s.deps.SignIn == nil || err != nil || secret == "" {
		return nil, nil
	}
	found, err := s.deps.SignIn.Find(ctx, secret)
	if err != nil && !errors.Is(err, signin.ErrNoSession) {
		err = fault.Down("find a session", err)
	}
	return found, err
}
