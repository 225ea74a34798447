package redisstore

import (
	"net"
	"strings"
)

// splitHosts returns the URL with the first of its hosts only, and all of them with their ports. ok is false when one is missing.
func splitHosts(rawURL, defaultPort string) (first string, hosts []string, ok bool) {
	scheme, rest, found := strings.Cut(rawURL, "://")
	if !found {
		return "", nil, false
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	user, list := "", authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, list = authority[:at+1], authority[at+1:]
	}
	named := strings.Split(list, ",")
	for _, host := range named {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)
		}
		if strings.HasPrefix(host, ":") {
			return "", nil, false
		}
		hosts = append(hosts, host)
	}
	return scheme + "://" + user + named[0] + tail, hosts, true
}
