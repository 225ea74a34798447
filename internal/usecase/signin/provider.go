package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/oauth2"

	"levelboard/internal/platform/metrics"
)

// ErrRefused says that the provider rejected a code or a token: the code was used before, or the user withdrew access.
var ErrRefused = errors.New("the provider refused")

const (
	// providerTime bounds one request to the provider.
	providerTime = 5 * time.Second
	// answerSize bounds an answer of the provider, in bytes. 200 guilds take about 60 KB.
	answerSize = 1 << 20
	// providerConns is the maximum number of connections to a host of the provider.
	providerConns = 16
)

// Token is our access to the user's account at the provider. Formatting or logging it reveals nothing.
type Token oauth2.Token

// String keeps tokens out of formatted text.
func (Token) String() string { return "[redacted]" }

// GoString does so for %#v.
func (Token) GoString() string { return "signin.Token{[redacted]}" }

// LogValue keeps tokens out of logs.
func (Token) LogValue() slog.Value { return slog.StringValue("[redacted]") }

// ProviderOptions are the addresses of a provider, and our credentials there.
type ProviderOptions struct {
	ClientID     string
	ClientSecret string
	AuthURL      string // where users sign in
	TokenURL     string // where codes are redeemed
	APIURL       string // base of users/@me and users/@me/guilds
	RedirectURL  string // where the provider sends the browser back to; must be registered there
}

// Provider calls the OAuth 2.0 provider. It is safe for concurrent use.
type Provider struct {
	oauth  *oauth2.Config
	apiURL string
	client *http.Client
}

// NewProvider returns a Provider. It sends nothing yet.
func NewProvider(o ProviderOptions) *Provider {
	return &Provider{
		oauth: &oauth2.Config{
			ClientID: o.ClientID, ClientSecret: o.ClientSecret, RedirectURL: o.RedirectURL,
			Scopes:   []string{"identify", "guilds"},
			Endpoint: oauth2.Endpoint{AuthURL: o.AuthURL, TokenURL: o.TokenURL},
		},
		apiURL: o.APIURL,
		client: &http.Client{
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxConnsPerHost: providerConns, IdleConnTimeout: 30 * time.Second},
			Timeout:   providerTime,
			// A redirect would send the token to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close closes idle connections.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// address returns where to send the browser to sign in. The provider sends back state, and a code that needs the verifier.
func (p *Provider) address(state, verifier string) string {
	return p.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))
}

// errorCodes matches the error codes of RFC 6749. Anybody who knows the state can send any text here, and it is logged.
var errorCodes = regexp.MustCompile(`^[a-z0-9_]{1,40}$`)

// denial returns the error for an error code from the provider (RFC 6749 4.1.2.1).
func denial(errorCode string) error {
	switch {
	case errorCode == "access_denied":
		return fmt.Errorf("the user does not allow it: %w", ErrRefused)
	case !errorCodes.MatchString(errorCode):
		errorCode = "unknown"
	}
	return fmt.Errorf("the provider sent back no code, but the error %s", errorCode)
}

// redeem trades a code for access. It returns ErrRefused for an invalid or used code.
func (p *Provider) redeem(ctx context.Context, code, verifier string) (Token, error) {
	got, err := p.oauth.Exchange(p.with(ctx), code, oauth2.VerifierOption(verifier))
	if err != nil {
		return Token{}, fmt.Errorf("redeem a code: %w", plain(err))
	}
	return Token(*got), nil
}

// renew trades the refresh token for new access. It returns ErrRefused if the user
// withdrew access. If the provider sends no new refresh token, the old one stays.
func (p *Provider) renew(ctx context.Context, t Token) (Token, error) {
	if t.RefreshToken == "" {
		return Token{}, fmt.Errorf("renew access without a refresh token: %w", ErrRefused)
	}
	got, err := p.oauth.TokenSource(p.with(ctx), &oauth2.Token{RefreshToken: t.RefreshToken}).Token()
	if err != nil {
		return Token{}, fmt.Errorf("renew access: %w", plain(err))
	}
	return Token(*got), nil
}

func (p *Provider) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, p.client)
}

// refusals are the statuses of a rejection: 400 or 401 by RFC 6749 5.2, and 403 from some providers.
var refusals = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}

// plain drops the provider's text, which may contain anything, and tells a rejection (invalid_grant) from a failure.
func plain(err error) error {
	var answered *oauth2.RetrieveError
	if !errors.As(err, &answered) {
		return err
	}
	status := 0
	if answered.Response != nil {
		status = answered.Response.StatusCode
	}
	if answered.ErrorCode == "invalid_grant" && slices.Contains(refusals, status) {
		return fmt.Errorf("status %d: %w", status, ErrRefused)
	}
	return fmt.Errorf("the provider answered %d, error %.40q", status, answered.ErrorCode)
}

// get reads one resource of the provider's API. It returns ErrRefused only for a 401: firewalls answer 403 to all requests.
func (p *Provider) get(ctx context.Context, path string, t Token, into any) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read %s: %w", path, err)
		}
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.apiURL+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+t.AccessToken)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "Levelboard")
	answer, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, answerSize))
	switch {
	case err != nil:
		return err
	case answer.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("status %d: %w", answer.StatusCode, ErrRefused)
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("the provider answered %d", answer.StatusCode)
	case json.Unmarshal(body, into) != nil:
		return errors.New("the answer is not what was expected")
	}
	return nil
}

// Outcomes of a request to the provider.
const (
	ok      = "ok"
	refused = "refused"
	failed  = "failed"
)

var (
	signIns = metrics.NewCounterVec("levelboard_sign_ins_total",
		"Sign-ins that came back from the provider: ok, refused (the user does not allow it, or it does not take the code), failed (it sent back another error, or it or Redis could not be asked).", "outcome", ok, refused, failed)
	refreshes = metrics.NewCounterVec("levelboard_session_refreshes_total",
		"How often the provider was asked again about a session: ok, refused (the session is ended), failed (it could not be asked).", "outcome", ok, refused, failed)
)

// Collectors returns the metrics of this package.
func Collectors() []prometheus.Collector { return []prometheus.Collector{signIns, refreshes} }

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return ok
	case errors.Is(err, ErrRefused):
		return refused
	default:
		return failed
	}
}
