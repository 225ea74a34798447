package redisstore

import (
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// defaultPort is where a host of a cluster is whose port is not told.
const defaultPort = "6379"

func connectCluster(rawURL string, o ConnectOptions) (*Client, error) {
	first, seeds, ok := splitHosts(rawURL, defaultPort)
	if !ok {
		return nil, ErrClusterURL
	}
	base, err := clientOptions(first, o)
	if err != nil || base.DB != 0 || base.Network != "tcp" {
		return nil, ErrClusterURL
	}
	logging.Disable()
	return newClustered(newCluster(seeds, o.silence(), func(address string) *redis.Options {
		opts := *base
		opts.Addr = address
		return &opts
	})), nil
}
