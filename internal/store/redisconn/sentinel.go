package redisconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// SentinelOptions say how to find a server through sentinels.
type SentinelOptions struct {
	Master             string // the name by which they know it
	Username, Password string // of the sentinels themselves; the URL holds the server's
}

// Errors of finding the master.
var (
	// ErrUnknownMaster means that sentinels answer, but none of them watches a master of that name.
	ErrUnknownMaster = errors.New("the sentinels know no master of that name")
	// ErrSentinel is wrapped in each error of a sentinel, as opposed to the server's.
	ErrSentinel = errors.New("ask the sentinels")
	errReplica  = errors.New("the server that the sentinels name is not the master, or not yet")
)

// sentinelShare divides the time for a connection to the master. One sentinel must answer within this part, so that go-redis has time to ask
// the others.
const sentinelShare = 4

// failover makes a go-redis client that asks the sentinels at hosts for the master. It trusts the sentinel that answered first until that one
// falls silent (docs/redis.md).
func failover(hosts []string, o SentinelOptions) func(*redis.Options) *redis.Client {
	return func(server *redis.Options) *redis.Client {
		patience, dial := server.DialTimeout/sentinelShare, server.Dialer
		client := redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: o.Master, SentinelAddrs: hosts, SentinelUsername: o.Username, SentinelPassword: o.Password,
			Dialer: func(ctx context.Context, network, address string) (net.Conn, error) {
				if slices.Contains(hosts, address) {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, patience)
					defer cancel()
				}
				return dial(ctx, network, address)
			},
			ReadTimeout: patience, WriteTimeout: patience,
			Username: server.Username, Password: server.Password, CredentialsProviderContext: server.CredentialsProviderContext, DB: server.DB,
			DialTimeout: server.DialTimeout, DialerRetries: server.DialerRetries, MaxRetries: server.MaxRetries,
			ContextTimeoutEnabled: server.ContextTimeoutEnabled, Protocol: server.Protocol, DisableIdentity: server.DisableIdentity,
			PoolFIFO: server.PoolFIFO, PoolSize: server.PoolSize, PoolTimeout: server.PoolTimeout, MinIdleConns: server.MinIdleConns,
			MaxIdleConns: server.MaxIdleConns, MaxActiveConns: server.MaxActiveConns,
			ConnMaxIdleTime: server.ConnMaxIdleTime, ConnMaxLifetime: server.ConnMaxLifetime,
		})
		// go-redis has one option for both, and these are not for sentinels.
		options := client.Options()
		options.OnConnect, options.ReadTimeout, options.WriteTimeout = server.OnConnect, server.ReadTimeout, server.WriteTimeout
		client.AddHook(sentinelErrors{})
		return client
	}
}

// sentinelErrors is a hook that marks the errors of sentinels, which must not look like answers of the server.
type sentinelErrors struct{ plainHook }

// DialHook implements redis.Hook.
func (sentinelErrors) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := next(ctx, network, address)
		switch {
		case err == nil || !strings.HasPrefix(err.Error(), "redis: all sentinels"):
			return conn, err
		case errors.Is(err, redis.Nil):
			return nil, ErrUnknownMaster
		}
		return nil, fmt.Errorf("%w: %s", ErrSentinel, err.Error())
	}
}
