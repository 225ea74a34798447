// Package storeurl splits the URL of a Redis or a Postgres that may name several hosts,
// which net/url rejects: redis://user:password@h1:1,h2:2/0. It does not validate or connect.
package storeurl

import (
	"net"
	"slices"
	"strings"
)

// URL is such a URL in pieces. It holds a password: never print it.
type URL struct {
	Scheme string
	user   string // with its @, or empty
	Hosts  []string
	tail   string // what follows the hosts, from the first of / ? #
}

// Split takes a URL apart. It checks only that there is a scheme. Hosts has at least one element, which may be empty.
func Split(raw string) (u URL, ok bool) {
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		return URL{}, false
	}
	u.Scheme = scheme
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, u.tail = rest[:i], rest[i:]
	}
	hosts := authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		u.user, hosts = authority[:at+1], authority[at+1:]
	}
	u.Hosts = strings.Split(hosts, ",")
	return u, true
}

// First returns the URL with only the first of its hosts, which net/url accepts.
func (u URL) First() string { return u.Scheme + "://" + u.user + u.Hosts[0] + u.tail }

// Addresses returns the hosts with their ports; port is used for a host without one.
func (u URL) Addresses(port string) []string {
	addresses := make([]string, len(u.Hosts))
	for i, host := range u.Hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		addresses[i] = host
	}
	return addresses
}

// SamePlace reports whether two URLs differ at most in the user and the password before their hosts.
func SamePlace(a, b string) bool {
	x, okX := Split(a)
	y, okY := Split(b)
	return okX && okY && x.Scheme == y.Scheme && slices.Equal(x.Hosts, y.Hosts) && x.tail == y.tail
}
