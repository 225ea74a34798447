package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/platform/shares"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/signin"
)

// maxInFlight bounds the pages that are worked on, each rendered into at most some 200 KB of memory; one more is refused at once.
const maxInFlight = 256

// pagesOfAddress is how many of them may be of one address.
const pagesOfAddress = maxInFlight / 4

// contentPolicy allows what is ours, and avatars. It never runs scripts or styles in the page itself.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' " + imageHost + "; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// The largest forms, in bytes. Settings are at most 64 KiB of JSON, and a form takes three bytes for one of a name that is not ASCII.
const (
	maxForm         = 64 << 10
	maxSettingsForm = 256 << 10
)

// formTime is how long a form may take to arrive.
const formTime = 5 * time.Second

// retryProvider is how long people are asked to wait when the provider of sign-in does not answer.
const retryProvider = 10 * time.Second

// imageHost is where avatars and icons are.
const imageHost = "https://cdn.discordapp.com"

// guard sets the headers of every page, bounds the form that came with the request, and refuses changes that another site's page asks for.
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
	limit := int64(maxForm)
	switch c.FullPath() {
	case settingsPath:
		limit = maxSettingsForm
	case uploadPath:
		limit = maxSent
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, limit)
	if err := s.origins.Check(c.Request); err != nil {
		s.fail(c, fault.Wrap(err, fault.Forbidden, "This request came from another site and was rejected. Open the page here and try again."))
	}
}

// postForm reads the fields of a POST's body. Only a guild's settings are ever too long to be sent.
func postForm(c *gin.Context) (url.Values, error) {
	if c.Request.Method != http.MethodPost {
		return nil, nil
	}
	place := placeOfPage(c)
	place.Lend() // those who send slowly keep nobody else waiting
	// net/http takes the deadline back at the end of the body. Without a connection, in tests, there is none.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(formTime))
	err := c.Request.ParseForm()
	var large *http.MaxBytesError
	switch {
	case err == nil && !place.Resume():
		return nil, crowded(shares.ErrFull)
	case err == nil:
		return c.Request.PostForm, nil
	case errors.As(err, &large):
		return nil, fault.Wrap(err, fault.TooLarge, "The form is too large. "+
			"The operator can apply large settings with the command levelboard guild apply.")
	}
	return nil, fault.Wrap(err, fault.Invalid, "The form arrived incomplete. Go back and submit it again.")
}

// trusting refuses changes from other origins. It names the public address because a proxy may change the Host.
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

// recover answers a panic with a page, before what is under it would answer in JSON.
func (s *Site) recover(c *gin.Context) {
	defer func() {
		if panicked := recover(); panicked != nil {
			if panicked == http.ErrAbortHandler {
				panic(panicked)
			}
			s.fail(c, fmt.Errorf("panic: %v\n%s", panicked, debug.Stack()))
		}
	}()
	c.Next()
}

// admit refuses a page when as many as may be are being worked on, in all or for the address.
func (s *Site) admit(c *gin.Context) {
	place, err := s.inFlight.Take(ratelimit.ClientName(c.ClientIP()))
	if err != nil {
		s.fail(c, crowded(err))
		return
	}
	c.Set(placeKey, place)
	defer place.Release()
	c.Next()
}

func crowded(why error) error {
	return &fault.Error{
		Code: fault.Unavailable, RetryAfter: time.Second, Cause: why,
		Message: "The service is busy. Try again in a second.",
	}
}

// callerOf names who asks: the user, or the address without one.
func callerOf(c *gin.Context) string {
	if session := sessionOf(c); session != nil {
		return "user " + string(session.User.ID)
	}
	return "address " + ratelimit.ClientName(c.ClientIP())
}

const placeKey = "place"

// placeOfPage returns what admit took.
func placeOfPage(c *gin.Context) *shares.Place {
	place, _ := c.Value(placeKey).(*shares.Place)
	return place
}

// charge takes one request from the user's budget, or the address's: the same one that their calls of /v2 are charged to.
func (s *Site) charge(c *gin.Context, session *signin.Session) error {
	user := ""
	if session != nil {
		user = string(session.User.ID)
	}
	return s.take(c, ratelimit.OfIdentity(user, c.ClientIP(), s.deps.IdentityLimit), "You sent too many requests.")
}

// chargeSignIn takes one of the address's sign-ins, whoever is signed in there already. They have a limit also where pages have none.
func (s *Site) chargeSignIn(c *gin.Context) error {
	budget := ratelimit.Budget{Scope: ratelimit.ScopeSignIn, Name: ratelimit.ClientName(c.ClientIP()), PerMinute: signInsOfAddress}
	return s.take(c, budget, "There were too many sign-ins from your address. Try again later.")
}

// take takes one request from a budget; the message is for a client that has none left.
func (s *Site) take(c *gin.Context, budget ratelimit.Budget, message string) error {
	decision, err := s.deps.Limiter.Charge(c.Request.Context(), budget)
	if err != nil {
		return fault.Down("charge the limits", err)
	}
	if decision.Allowed {
		return nil
	}
	return &fault.Error{Code: fault.RateLimited, RetryAfter: decision.RetryAfter, Message: message}
}

// hereKey is where comeBackTo puts the address.
const hereKey = "levelboard.here"

// comeBackTo says where signing in on this page leads, when that is not the page itself.
func comeBackTo(c *gin.Context, next string) { c.Set(hereKey, safeNext(next)) }

// formsHere are the pages whose forms are sent to their own address.
var formsHere = []string{settingsPath, dataPath, "/profile", "/profile/keys/:key", "/profile/keys/:key/delete"}

// here is the address to come back to after signing in: this page, or after a change the page of its form where both have one address.
func here(c *gin.Context) string {
	if next := c.GetString(hereKey); next != "" {
		return next
	}
	r := c.Request
	switch asked := r.Method == http.MethodGet || r.Method == http.MethodHead; {
	case asked && !strings.HasPrefix(r.URL.Path, "/sign-"):
		return r.URL.RequestURI()
	case !asked && slices.Contains(formsHere, c.FullPath()):
		return r.URL.EscapedPath()
	default:
		return "/"
	}
}

const sessionKey = "levelboard.session"

// sessionOf returns the visitor's session; nil when nobody is signed in.
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

// identify finds the visitor's session and charges them, before anything else costs work.
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
		return
	}
	if session != nil && c.Request.Method == http.MethodPost {
		by := audit.By{Actor: audit.Actor{Kind: audit.User, ID: string(session.User.ID), Name: session.User.Name}, RequestID: c.Writer.Header().Get("X-Request-Id")}
		c.Request = c.Request.WithContext(audit.With(c.Request.Context(), by))
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
	case !Loopback(u.Host):
		return cookies{}, fmt.Errorf("the public address %q must begin with https:// for people to sign in, unless it is loopback", publicURL)
	}
	return cookies{session: "levelboard", flow: "levelboard-sign-in"}, nil
}

// Loopback reports whether host, with or without a port, names this machine.
func Loopback(host string) bool {
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
