package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/signin"
)

// maxInFlight bounds the pages that are worked on, each rendered into at most some 200 KB of memory; one more is refused at once.
const maxInFlight = 256

// contentPolicy allows what is ours, and avatars. It never runs scripts or styles in the page itself.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' " + imageHost + "; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// The largest forms, in bytes. Settings are at most 64 KiB of JSON, and a form takes three bytes for one of a name that is not ASCII.
const (
	maxForm         = 64 << 10
	maxSettingsForm = 256 << 10
)

// retryProvider is what somebody is told to wait when the provider of sign-in does not answer.
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
	h.Set("Vary", "Cookie")
	limit := int64(maxForm)
	if c.FullPath() == settingsPath {
		limit = maxSettingsForm
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, limit)
	if err := s.origins.Check(c.Request); err != nil {
		s.fail(c, fault.Wrap(err, fault.Forbidden, "This was sent by a page of another site, so nothing was done. Go to the page here and do it there."))
	}
}

// postForm reads the fields of a POST's body. Only a guild's settings are ever too long to be sent.
func postForm(c *gin.Context) (url.Values, error) {
	if c.Request.Method != http.MethodPost {
		return nil, nil
	}
	err := c.Request.ParseForm()
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return c.Request.PostForm, nil
	case errors.As(err, &large):
		return nil, fault.Wrap(err, fault.TooLarge, "This is too long to be sent as a form. "+
			"Whoever runs this service can set long settings with the command levelboard guild apply.")
	}
	return nil, fault.Wrap(err, fault.Invalid, "The form did not arrive in one piece. Go back and send it again.")
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

// admit refuses a page when as many as may be are being worked on.
func (s *Site) admit(c *gin.Context) {
	if !s.inFlight.TryAcquire(1) {
		s.fail(c, &fault.Error{
			Code: fault.Unavailable, RetryAfter: time.Second,
			Message: "Very many people are looking at this moment. Try again in a second.",
		})
		return
	}
	defer s.inFlight.Release(1)
	c.Next()
}

// charge takes one request from the user's budget, or the address's: the same one that their calls of /v2 are charged to.
func (s *Site) charge(c *gin.Context, session *signin.Session) error {
	user := ""
	if session != nil {
		user = string(session.User.ID)
	}
	return s.take(c, ratelimit.OfIdentity(user, c.ClientIP(), s.deps.IdentityLimit), "That was too much at once.")
}

// chargeSignIn takes one of the address's sign-ins, whoever is signed in there already. They have a limit also where pages have none.
func (s *Site) chargeSignIn(c *gin.Context) error {
	budget := ratelimit.Budget{Scope: ratelimit.ScopeSignIn, Name: ratelimit.ClientName(c.ClientIP()), PerMinute: signInsOfAddress}
	return s.take(c, budget, "There were too many sign-ins from your address. Begin again a little later.")
}

// take takes one request from a budget; the message is for who is told that it has none.
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
var formsHere = []string{settingsPath, "/profile", "/profile/keys/:key", "/profile/keys/:key/delete"}

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
