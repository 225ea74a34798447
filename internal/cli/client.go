package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"levelboard/internal/config"
)

const (
	// clientTimeout bounds one request about a guild or a key. Deleting a large guild is the slowest.
	clientTimeout = 30 * time.Second
	// slowTimeout bounds a request about all members of a guild. The service gives up after five minutes.
	slowTimeout = 5*time.Minute + clientTimeout
	// maxAnswer bounds one answer: a list of 1000 guilds with all their settings stays far below it.
	maxAnswer = 128 << 20
)

// clientFlags are the flags of every command that is a client of a running service.
type clientFlags struct {
	url, adminToken string
	reason          string
	json            bool
}

func (f *clientFlags) register(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.url, "url", "", "address of the running service (default LEVELBOARD_URL, else http://127.0.0.1:8080)")
	flags.StringVar(&f.adminToken, "admin-token", "", "admin token (default LEVELBOARD_ADMIN_TOKEN, else the file admin-token of the data directory)")
	flags.StringVar(&f.reason, "reason", "", "why, for the audit log of what is changed")
	flags.BoolVar(&f.json, "json", false, "print what the service answered, as JSON")
}

// webAddress reports whether s is the base of a web server's addresses.
func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == ""
}

// adminClient calls /admin of a running service.
type adminClient struct {
	base      string
	token     string
	tokenFrom string // where the token is from, for the message about a wrong one
	reason    string // of changes
	http      *http.Client
}

func newAdminClient(base, token string) *adminClient {
	return &adminClient{base: base, token: token, http: &http.Client{
		Timeout: clientTimeout,
		// A redirect would carry the token to wherever it points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// client returns the client that the flags and the environment ask for.
func (p *program) client(f *clientFlags) (*adminClient, error) {
	settings, err := config.LoadClient(p.Environ)
	if err != nil && (f.url == "" || f.adminToken == "") {
		return nil, err
	}
	base := settings.URL
	if f.url != "" {
		if !webAddress(f.url) {
			return nil, usage("--url must be an http:// or https:// address")
		}
		base = strings.TrimRight(f.url, "/")
	}
	token, from := f.adminToken, "--admin-token"
	if token == "" {
		if token, from, err = settings.AdminToken(); err != nil {
			return nil, err
		}
	}
	client := newAdminClient(base, token)
	client.tokenFrom, client.reason = from, f.reason
	return client, nil
}

// slowClient is client with the time that work on all members of a guild takes.
func (p *program) slowClient(f *clientFlags) (*adminClient, error) {
	client, err := p.client(f)
	if err == nil {
		client.http.Timeout = slowTimeout
	}
	return client, err
}

// call makes a request; body nil sends none. It returns the answer when its status is 2xx, else an error that holds the
// service's own message.
func (c *adminClient) call(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	return c.callOnce(ctx, method, path, body, "")
}

// callOnce is call under an Idempotency-Key, unless that is empty.
func (c *adminClient) callOnce(ctx context.Context, method, path string, body []byte, once string) (status int, answer []byte, err error) {
	response, err := c.open(ctx, method, path, body, once)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return 0, nil, c.unreachable(err)
	}
	return response.StatusCode, answer, nil
}

// open is call for an answer that is read bit by bit. once, unless it is empty, is the request's Idempotency-Key.
func (c *adminClient) open(ctx context.Context, method, path string, body []byte, once string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the service or the admin token is malformed")
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if once != "" {
		request.Header.Set("Idempotency-Key", once)
	}
	if c.reason != "" && method != http.MethodGet {
		request.Header.Set("X-Audit-Log-Reason", url.PathEscape(c.reason))
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer response.Body.Close()
		answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		if err != nil {
			return nil, c.unreachable(err)
		}
		return nil, &refused{c.refusal(response, answer), response.StatusCode}
	}
	return response, nil
}

// unreachable says in a sentence why there was no answer.
func (c *adminClient) unreachable(err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s: start the service with 'levelboard serve', or give its address with --url or LEVELBOARD_URL", c.base)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("the service at %s did not respond within %s; the request may have been carried out or not", c.base, c.http.Timeout)
	}
	return fmt.Errorf("the service at %s cannot be reached: %w", c.base, withoutAddress(err))
}

// withoutAddress returns the cause of a client's error, whose text repeats the request's method and address.
func withoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// refused is an answer that is not 2xx.
type refused struct {
	error
	status int
}

// refusal turns an answer that is not 2xx into the service's message, or says that the server is no Levelboard. For a wrong token it says what to do
// on a command line, where the service speaks of a header.
func (c *adminClient) refusal(response *http.Response, answer []byte) error {
	var failure struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &failure) == nil && failure.Message != "" {
		if response.StatusCode == http.StatusUnauthorized {
			return fmt.Errorf("the service does not accept the admin token from %s: give the one that it was started with, by --admin-token or LEVELBOARD_ADMIN_TOKEN",
				c.tokenFrom)
		}
		return fmt.Errorf("the service answered %d: %s%s", response.StatusCode, printable(failure.Message), c.hint(response))
	}
	return fmt.Errorf("the server at %s answered %s, and not as Levelboard does: check the address%s", c.base, response.Status, c.hint(response))
}

// hint is a sentence for users who gave the API's address, as bots need it, instead of the service's. It begins with a space.
func (c *adminClient) hint(response *http.Response) string {
	base, err := url.Parse(c.base)
	if err != nil || response.StatusCode != http.StatusNotFound {
		return ""
	}
	path, _, ofAPI := strings.Cut(base.Path+"/", "/v2/")
	if !ofAPI {
		return ""
	}
	return fmt.Sprintf(" The service's address is its base, without /v2: give %s://%s%s with --url or LEVELBOARD_URL.", base.Scheme, base.Host, path)
}

// call is adminClient.call of the client that the flags and the environment ask for.
func (p *program) call(ctx context.Context, flags *clientFlags, method, path string, body []byte) (status int, answer []byte, err error) {
	client, err := p.client(flags)
	if err != nil {
		return 0, nil, err
	}
	return client.call(ctx, method, path, body)
}

// send makes a request without a body, whose answer is empty, and says that it is done unless JSON was asked for.
func (p *program) send(ctx context.Context, flags *clientFlags, method, path, done string) error {
	_, _, err := p.call(ctx, flags, method, path, nil)
	if err == nil && !flags.json {
		p.printf("%s\n", done)
	}
	return err
}
