package redisstore

import "github.com/redis/go-redis/v9/logging"

func connectSentinel(rawURL string, o ConnectOptions) (*Client, error) {
	first, hosts, ok := splitHosts(rawURL, sentinelPort)
	if !ok {
		return nil, ErrSentinelURL
	}
	opts, err := clientOptions(first, o)
	if err != nil || opts.Network != "tcp" {
		return nil, ErrSentinelURL
	}
	logging.Disable()
	found := newSentinels(hosts, *o.Sentinel, opts)
	opts.Addr, opts.Dialer = "the master", found.dialMaster
	n := newNode(opts, o.silence())
	n.masterOnly = true
	c := newSingle(n)
	c.sentinels = found
	found.start()
	return c, nil
}
