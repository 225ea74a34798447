package redisstore

import "strings"

// splitHosts returns the URL with the first of its hosts only, and all of them. It does not check what it finds.
func splitHosts(rawURL string) (oneURL string, hosts []string) {
	scheme, rest, found := strings.Cut(rawURL, "://")
	if !found {
		return rawURL, nil
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	user := ""
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, authority = authority[:at+1], authority[at+1:]
	}
	hosts = strings.Split(authority, ",")
	return scheme + "://" + user + hosts[0] + tail, hosts
}
