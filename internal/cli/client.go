package cli

import (
	"bytes"
	"cmp"
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
	"levelboard/internal/domain/id"
)

const (
	// callTimeout bounds one request. The service itself gives up requests about all members of a guild after five minutes.
	callTimeout = 5*time.Minute + 30*time.Second
	// maxAnswer bounds one answer. A list of 1000 guilds with all their settings is far smaller.
	maxAnswer = 128 << 20
)

// client calls /admin of a running service. Its flags and the environment say which one.
type client struct {
	*program
	url, adminToken, reason string
	json, yes               bool

	base, token string
	tokenFrom   string // where the token came from, to say so if it is wrong
}

// flags registers the client's flags with a command and its subcommands, and returns the command.
func (c *client) flags(cmd *cobra.Command) *cobra.Command {
	flags := cmd.PersistentFlags()
	flags.StringVar(&c.url, "url", "", "address of the running service (default LEVELBOARD_URL, else http://127.0.0.1:8080)")
	flags.StringVar(&c.adminToken, "admin-token", "", "admin token (default LEVELBOARD_ADMIN_TOKEN, else the file admin-token of the data directory)")
	flags.StringVar(&c.reason, "reason", "", "why, for the audit log of what is changed")
	flags.BoolVar(&c.json, "json", false, "print what the service answered, as JSON")
	return cmd
}

// connect finds the service's address and the token. Later calls do nothing.
func (c *client) connect() error {
	if c.base != "" {
		return nil
	}
	settings, err := config.LoadClient(c.Environ)
	if err != nil && (c.url == "" || c.adminToken == "") {
		return err
	}
	if c.url != "" && !webAddress(c.url) {
		return usage("--url must be an http:// or https:// address")
	}
	c.token, c.tokenFrom = c.adminToken, "--admin-token"
	if c.token == "" {
		if c.token, c.tokenFrom, err = settings.AdminToken(); err != nil {
			return err
		}
	}
	c.base = serviceBase(cmp.Or(c.url, settings.URL))
	return nil
}

// webAddress reports whether s can be the base of a service's addresses.
func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == ""
}

// serviceBase removes /v2 from a service's address. Bots are configured with the API's address, so people pass that here too.
func serviceBase(address string) string {
	return strings.TrimSuffix(strings.TrimRight(address, "/"), "/v2")
}

// noRedirects follows no redirect, since that would send the token to another address.
var noRedirects = &http.Client{
	Timeout:       callTimeout,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// request is a request to the service.
type request struct {
	method, path string
	body         any    // a value to send as JSON, or its bytes; nil sends none
	once         string // the Idempotency-Key; empty for none
}

// call makes a request. It returns the answer if its status is 2xx, else an error with the service's own message.
func (c *client) call(ctx context.Context, r request) (status int, answer []byte, err error) {
	response, err := c.open(ctx, r)
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

// open is call for an answer that its caller reads as it arrives.
func (c *client) open(ctx context.Context, r request) (*http.Response, error) {
	if err := c.connect(); err != nil {
		return nil, err
	}
	body, encoded := r.body.([]byte)
	if r.body != nil && !encoded {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("the request cannot be written as JSON: %w", err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the service or the admin token is malformed")
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if r.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.once != "" {
		request.Header.Set("Idempotency-Key", r.once)
	}
	if c.reason != "" && r.method != http.MethodGet {
		request.Header.Set("X-Audit-Log-Reason", url.PathEscape(c.reason))
	}
	response, err := noRedirects.Do(request)
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

// unreachable says why there was no answer.
func (c *client) unreachable(err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s: start the service with 'levelboard serve', or give its address with --url or LEVELBOARD_URL", c.base)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("the service at %s did not respond within %s; the request may have been carried out or not", c.base, callTimeout)
	}
	return fmt.Errorf("the service at %s cannot be reached: %w", c.base, withoutAddress(err))
}

// withoutAddress returns the cause of a client's error, whose text would repeat the request's method and address.
func withoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// refused is the error for an answer that is not 2xx.
type refused struct {
	error
	status int
}

// refusal turns an answer that is not 2xx into the service's message, or says that the server is
// no Levelboard. For a wrong token it names flags, since the service's message is about a header.
func (c *client) refusal(response *http.Response, answer []byte) error {
	failure, err := read[struct {
		Message string `json:"message"`
	}](answer)
	switch {
	case err != nil || failure.Message == "":
		return fmt.Errorf("the server at %s answered %s, and not as Levelboard does: check the address", c.base, response.Status)
	case response.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("the service does not accept the admin token from %s: give the one that it was started with, "+
			"by --admin-token or LEVELBOARD_ADMIN_TOKEN", c.tokenFrom)
	}
	return fmt.Errorf("the service answered %d: %s", response.StatusCode, printable(failure.Message))
}

// read decodes an answer of the service.
func read[T any](answer []byte) (read T, err error) {
	if err := json.Unmarshal(answer, &read); err != nil {
		return read, fmt.Errorf("the service's answer cannot be read: %w", err)
	}
	return read, nil
}

// forGuild makes a command with the flag --guild, and checks the id in it.
func (p *program) forGuild(use, short string, work func(ctx context.Context, guild string, args []string) error) *cobra.Command {
	var guild string
	cmd := p.command(use+" --guild ID", short, func(ctx context.Context, args []string) error {
		if !id.Valid(guild) {
			return errGuildID
		}
		return work(ctx, guild, args)
	})
	cmd.Flags().StringVar(&guild, "guild", "", "id of the guild")
	_ = cmd.MarkFlagRequired("guild")
	return cmd
}

var errGuildID = usage("a guild's id %w", id.ErrSnowflake)

// guildPath returns the path of a guild. A valid id needs no escaping.
func guildPath(guild string) string { return "/admin/guilds/" + guild }
