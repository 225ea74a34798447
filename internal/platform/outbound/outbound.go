// Package outbound sends HTTP requests to addresses that strangers chose. It connects to public addresses only, unless the operator allows
// others, follows no redirect, uses no proxy, and bounds time, answers and how many requests are sent at once.
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
	"slices"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"levelboard/internal/platform/shares"
)

const (
	// Timeout bounds a request from the look-up of its host to the end of its answer.
	Timeout = 5 * time.Second
	// answerSize is how much of an answer is read, in bytes.
	answerSize = 64 << 10
	// AtOnce is how many requests are sent at the same time, and PerHost how many of them at most to one host and port.
	AtOnce, PerHost = 512, 32
)

// ErrPrivate says that a host has an address that is not public and not allowed.
var ErrPrivate = errors.New("its address is private or special; the operator can allow it in LEVELBOARD_ALLOWED_PRIVATE_HOSTS")

// Hosts are the private hosts that may be connected to.
type Hosts struct {
	names    []string // in lower case, without a dot at the end
	prefixes []netip.Prefix
}

// ParseHosts reads addresses, prefixes and names. wrong is the first that is none of them, or "".
func ParseHosts(list []string) (h Hosts, wrong string) {
	for _, text := range list {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			h.prefixes = append(h.prefixes, prefix.Masked())
		} else if address, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
			h.prefixes = append(h.prefixes, netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()))
		} else if text == "" || strings.ContainsAny(text, "/:@*? []") {
			return h, text
		} else {
			h.names = append(h.names, canonical(text))
		}
	}
	return h, ""
}

// Name reports whether a host, as a URL has it, is named or is an address in a prefix that is.
func (h Hosts) Name(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && slices.ContainsFunc(h.prefixes, func(p netip.Prefix) bool { return p.Contains(address.Unmap()) }) ||
		slices.Contains(h.names, canonical(host))
}

func canonical(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// Answer is what a host answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // the first 64 KiB
}

// Client sends requests. It is safe for concurrent use.
type Client struct {
	http   *http.Client
	places *shares.Pool
}

// New returns a Client. trust is for servers whose certificates the system does not know; nil for none.
func New(allowed Hosts, trust *tls.Config) *Client {
	transport := &http.Transport{
		DialContext: dial(allowed), TLSClientConfig: trust, ForceAttemptHTTP2: true, DisableCompression: true,
		MaxResponseHeaderBytes: answerSize, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second,
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{&http.Client{Transport: transport, CheckRedirect: noRedirect}, shares.New(AtOnce, PerHost)}
}

// dial judges the address that it connects to, after the look-up: a name that pointed elsewhere when it was checked does not help.
func dial(allowed Hosts) func(ctx context.Context, network, address string) (net.Conn, error) {
	public := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(allowed.prefixes...), ssrf.WithAllowedV6Prefixes(allowed.prefixes...))
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		dialer := net.Dialer{Control: public.Safe}
		if host, _, err := net.SplitHostPort(address); err == nil && allowed.Name(host) {
			dialer.Control = nil
		}
		return dialer.DialContext(ctx, network, address)
	}
}

// Do sends a request and reads the answer. It waits for its turn until ctx ends; from then on it has Timeout. The error names neither path
// nor query of the URL, which may be secret.
func (c *Client) Do(ctx context.Context, r *http.Request) (Answer, error) {
	place, err := c.places.Wait(ctx, r.URL.Host)
	if err != nil {
		return Answer{}, err
	}
	defer place.Release()
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	answer, err := c.exchange(r.WithContext(ctx))
	switch at, ok := errors.AsType[*url.Error](err); {
	case err == nil:
		return answer, nil
	case errors.Is(err, ssrf.ErrProhibitedIP):
		err = ErrPrivate // without the address
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("there was no answer within %s", Timeout)
	case ok:
		err = at.Err
	}
	return Answer{}, err
}

func (c *Client) exchange(r *http.Request) (Answer, error) {
	response, err := c.http.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerSize))
	return Answer{response.StatusCode, response.Header, body}, err
}

// Close closes the connections that are kept.
func (c *Client) Close() { c.http.CloseIdleConnections() }
