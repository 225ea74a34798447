package redisstore

import (
	"net"
	"strings"

	"levelboard/internal/redisurl"
)

// splitHosts returns the URL with the first of its hosts only, and all of them with their ports. ok is false when one is missing.
func splitHosts(rawURL, defaultPort string) (first string, hosts []string, ok bool) {
	u, ok := redisurl.Split(rawURL)
	if !ok {
		return "", nil, false
	}
	for _, host := range u.Hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)
		}
		if strings.HasPrefix(host, ":") {
			return "", nil, false
		}
		hosts = append(hosts, host)
	}
	return u.First(), hosts, true
}
