package loadgen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// answerTime bounds one exchange; the service gives up on a request after ten seconds.
	answerTime = 15 * time.Second
	// adminTime bounds one call to /admin; deleting a large guild takes longest.
	adminTime = time.Minute
	// answerBytes bounds an answer: a thousand messages with all their role changes are shorter.
	answerBytes = 16 << 20
)

// client asks the service, on connections that it keeps. It is for concurrent use.
type client struct {
	base, token string
	http        *http.Client
}

func newClient(base, token string, connections int) *client {
	return &client{base, token, &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxIdleConnsPerHost: connections + writerConnections,
			DisableCompression:  true, // a gzipped answer is not unpacked: that is no work of the service
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// request is one request to /v2.
type request struct {
	method, path, key string
	body              []byte // JSON; nil for none
	etag              string // for If-None-Match; empty for none
	keep              bool   // keep the answer's body
}

// answer is what is kept of an answer. The zero value says that the request was sent and none came.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// unknown says that nobody can tell if the service did what was asked: no answer came, or one that does not say.
func (a answer) unknown() bool { return a.status < 200 || a.status >= 500 }

// do makes a request, and reads the whole answer.
func (c *client) do(ctx context.Context, r request) (answer, error) {
	header := http.Header{"X-Api-Key": {r.key}}
	if r.method == http.MethodGet {
		header.Set("Accept-Encoding", "gzip") // as browsers and most libraries do
	}
	if r.etag != "" {
		header.Set("If-None-Match", r.etag)
	}
	return c.send(ctx, answerTime, r, header)
}

// send adds to the headers what is about the body. After an error it is unknown if the service did what was asked.
func (c *client) send(ctx context.Context, limit time.Duration, r request, header http.Header) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	outgoing, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return a, errors.New("the address of the service is malformed")
	}
	outgoing.Header = header
	if r.body != nil {
		header.Set("Content-Type", "application/json")
	}
	incoming, err := c.http.Do(outgoing)
	if err != nil {
		return a, err
	}
	defer incoming.Body.Close()
	var body []byte
	if r.keep {
		body, err = io.ReadAll(io.LimitReader(incoming.Body, answerBytes))
	} else {
		_, err = io.Copy(io.Discard, incoming.Body)
	}
	if err != nil {
		return a, err
	}
	return answer{incoming.StatusCode, incoming.Header, body}, nil
}

// errNotFound is wrapped by the error of a call to /admin that was answered 404.
var errNotFound = errors.New("the service answered 404")

// admin calls /admin with the operator's token. in is sent as JSON unless it is nil, and a 2xx answer is decoded into out unless that is nil.
func (c *client) admin(ctx context.Context, method, path string, in, out any) error {
	r := request{method: method, path: "/admin" + path, keep: true}
	if in != nil {
		var err error
		if r.body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode %s %s: %w", method, path, err)
		}
	}
	a, err := c.send(ctx, adminTime, r, http.Header{"Authorization": {"Bearer " + c.token}})
	var said struct{ Message string }
	switch {
	case err != nil:
		return fmt.Errorf("the service cannot be reached: %w", err)
	case a.status == http.StatusNotFound:
		return errNotFound
	case a.status == http.StatusUnauthorized:
		return errors.New("the service does not accept the admin token: give the one that it was started with, by --admin-token or LEVELBOARD_ADMIN_TOKEN")
	case a.status < 200 || a.status > 299:
		_ = json.Unmarshal(a.body, &said)
		return fmt.Errorf("the service answered %d: %.200q", a.status, said.Message)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return fmt.Errorf("the answer of %s cannot be read: %w", path, err)
	}
	return nil
}
