package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"levelboard/internal/config"
)

const (
	// clientTimeout bounds one request. Deleting a large guild is the slowest.
	clientTimeout = 30 * time.Second
	// maxAnswer bounds one answer: a list of 1000 guilds with all their settings stays far below it.
	maxAnswer = 128 << 20
)

// clientFlags are those of every command that is a client of a running service.
type clientFlags struct {
	url, adminToken string
	json            bool
}

func (f *clientFlags) register(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.url, "url", "", "address of the running service (default LEVELBOARD_URL, else http://127.0.0.1:8080)")
	flags.StringVar(&f.adminToken, "admin-token", "", "admin token (default LEVELBOARD_ADMIN_TOKEN, else the file admin-token of the data directory)")
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
	tokenFrom string // where the token is from, for whoever gave a wrong one
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
	client.tokenFrom = from
	return client, nil
}

// call makes a request; body nil sends none. It returns the answer when its status is 2xx, else an error that holds the
// service's own message.
func (c *adminClient) call(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("the address of the service or the admin token is malformed")
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, c.unreachable(err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return 0, nil, c.unreachable(err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return response.StatusCode, nil, c.refusal(response, answer)
	}
	return response.StatusCode, answer, nil
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
		return fmt.Errorf("the service at %s did not answer within %s; what was asked may have been done or not", c.base, clientTimeout)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return fmt.Errorf("the service at %s cannot be reached: %w", c.base, err)
}

// refusal turns an answer that is not 2xx into the service's message, or says that it is none of a Levelboard. Of a wrong token
// it says what can be done on a command line: the service speaks of a header.
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
	return fmt.Errorf("what listens at %s answered %s, and not as Levelboard does; is the address right?%s", c.base, response.Status, c.hint(response))
}

// hint is for whoever gave the address of the API, as bots need it, where the service's was asked for. It begins with a space.
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

// list collects all pages of a list whose answers are {"<name>": [...], "next": ...}.
func (c *adminClient) list(ctx context.Context, path, name string) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	after := ""
	for {
		query := ""
		if after != "" {
			query = "?after=" + url.QueryEscape(after)
		}
		_, answer, err := c.call(ctx, http.MethodGet, path+query, nil)
		if err != nil {
			return nil, err
		}
		var page map[string]json.RawMessage
		var items []json.RawMessage
		var next *string
		if err := errors.Join(json.Unmarshal(answer, &page), json.Unmarshal(page[name], &items), json.Unmarshal(page["next"], &next)); err != nil {
			return nil, fmt.Errorf("the answer of %s cannot be read: %w", c.base, err)
		}
		all = append(all, items...)
		if next == nil {
			return all, nil
		}
		if *next == after {
			return nil, fmt.Errorf("the list of %s does not end", c.base)
		}
		after = *next
	}
}

// printJSON prints what an endpoint answered, with a newline.
func (p *program) printJSON(answer []byte) error {
	_, err := fmt.Fprintf(p.Stdout, "%s\n", bytes.TrimRight(answer, "\n"))
	return err
}

// printList prints the pages of a list as one answer.
func (p *program) printList(name string, items []json.RawMessage) error {
	document, err := json.Marshal(map[string]any{name: items, "next": nil})
	if err != nil {
		return fmt.Errorf("print the list: %w", err)
	}
	return p.printJSON(document)
}

// writeTable writes rows in aligned columns; what it is given must be printable.
func writeTable(w io.Writer, header []string, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if header != nil {
		fmt.Fprintln(table, strings.Join(header, "\t"))
	}
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// printable replaces what could move a terminal's cursor or break a table: names are made by users.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// count is "1 member", "2 members".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
