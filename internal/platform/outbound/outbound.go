// Package outbound sends HTTP requests to addresses that strangers chose. It connects to public addresses only, unless the operator allows
// others, follows no redirect, uses no proxy, and bounds time, answers and how much of it goes to one host.
package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

const (
	// Timeout bounds a request from the look-up of its host to the end of its answer.
	Timeout = 5 * time.Second
	// answerSize is how much of an answer is read, in bytes.
	answerSize = 64 << 10
	// PerHost is how many requests are sent to one host and port at the same time.
	PerHost = 32
)

// ErrPrivate says that a host has an address that is not public and not allowed.
var ErrPrivate = errors.New("its address is private or special; the operator can allow it in LEVELBOARD_ALLOWED_PRIVATE_HOSTS")

// Allowed are the hosts that are private and may be connected to all the same.
type Allowed interface {
	Host(host string) bool // by the name or the address in the URL
	Address(netip.Addr) bool
}

// Answer is what a host answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // the first 64 KiB
}

// Client sends requests. It is safe for concurrent use.
type Client struct {
	http  *http.Client
	hosts hosts
}

// New returns a Client. trust is for servers whose certificates the system does not know; nil for none.
func New(allowed Allowed, trust *tls.Config) *Client {
	transport := &http.Transport{
		DialContext:     dial(allowed),
		TLSClientConfig: trust, ForceAttemptHTTP2: true, DisableCompression: true, MaxResponseHeaderBytes: answerSize,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second,
	}
	return &Client{
		http:  &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		hosts: hosts{slots: map[string]*slots{}},
	}
}

// dial connects to what allowed or everybody may connect to. The address is judged that is connected to, after the look-up: a name that
// pointed elsewhere when it was checked does not help.
func dial(allowed Allowed) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !public(at.Addr()) && !allowed.Address(at.Addr()) && !allowed.Host(host) {
				return ErrPrivate
			}
			return nil
		}}
		return dialer.DialContext(ctx, network, address)
	}
}

// registries knows which addresses IANA's registries of special-purpose addresses keep from the public.
var registries = ssrf.New()

// public reports whether an address can be that of a public host.
func public(a netip.Addr) bool { return registries.SafeAddr(a.Unmap().WithZone("")) == nil }

// Do sends a request and reads the answer. It waits for its turn at the host until ctx ends; from then on it has Timeout. The error names
// neither path nor query of the URL, which may be secret.
func (c *Client) Do(ctx context.Context, r *http.Request) (Answer, error) {
	release, err := c.hosts.take(ctx, r.URL.Host)
	if err != nil {
		return Answer{}, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	response, err := c.http.Do(r.WithContext(ctx))
	if err != nil {
		return Answer{}, discreet(ctx, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerSize))
	if err != nil {
		return Answer{}, discreet(ctx, err)
	}
	return Answer{response.StatusCode, response.Header, body}, nil
}

// discreet takes the URL out of an error.
func discreet(ctx context.Context, err error) error {
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	switch {
	case errors.Is(err, ErrPrivate):
		return ErrPrivate
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("there was no answer within %s", Timeout)
	}
	return err
}

// Close closes the connections that are kept.
func (c *Client) Close() { c.http.CloseIdleConnections() }
