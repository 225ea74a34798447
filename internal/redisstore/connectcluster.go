package redisstore

import (
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// defaultPort is where a host of a cluster is whose port is not told.
const defaultPort = "6379"

func connectCluster(rawURL string, o ConnectOptions) (*Client, error) {
	first, seeds, err := clusterHosts(rawURL)
	if err != nil {
		return nil, err
	}
	base, err := clientOptions(first, o)
	if err != nil || base.DB != 0 || base.Network != "tcp" {
		return nil, ErrClusterURL
	}
	logging.Disable()
	return newClustered(newCluster(seeds, o.silence(), func(address string) *redis.Options {
		opts := *base
		opts.Addr = address
		if base.TLSConfig != nil {
			opts.TLSConfig = base.TLSConfig.Clone()
			opts.TLSConfig.ServerName = "" // each node by its own name
		}
		return &opts
	})), nil
}

// clusterHosts returns the URL with its first host only, and all hosts with their ports.
func clusterHosts(rawURL string) (first string, seeds []string, err error) {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok {
		return "", nil, ErrClusterURL
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	user, list := "", authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, list = authority[:at+1], authority[at+1:]
	}
	hosts := strings.Split(list, ",")
	for _, host := range hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)
		}
		if strings.HasPrefix(host, ":") {
			return "", nil, ErrClusterURL
		}
		seeds = append(seeds, host)
	}
	return scheme + "://" + user + hosts[0] + tail, seeds, nil
}
