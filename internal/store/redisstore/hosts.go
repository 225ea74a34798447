package redisstore

import (
	"slices"
	"strings"

	"levelboard/internal/platform/storeurl"
)

// splitHosts returns the URL with the first of its hosts only, and all of them with their ports. ok is false when one is missing.
func splitHosts(rawURL, defaultPort string) (first string, hosts []string, ok bool) {
	u, ok := storeurl.Split(rawURL)
	if !ok {
		return "", nil, false
	}
	hosts = u.Addresses(defaultPort)
	if slices.ContainsFunc(hosts, func(host string) bool { return strings.HasPrefix(host, ":") }) {
		return "", nil, false
	}
	return u.First(), hosts, true
}
