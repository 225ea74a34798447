package redisconn

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
	"go.opentelemetry.io/otel/trace"

	"levelboard/internal/platform/storeurl"
)

// Errors of Connect. Neither quotes the URL, which may hold a password.
var (
	errURL = errors.New("the Redis URL must be redis://[user:password@]host[:port][/database], rediss://... or " +
		"unix://[user:password@]/path, with the special characters of a password percent-encoded")
	errClusterURL = errors.New("the Redis URL of a cluster must be redis://[user:password@]host:port[,host:port...][/0] or " +
		"rediss://..., with the special characters of a password percent-encoded")
	errSentinelURL = errors.New("the Redis URL of sentinels must be redis://[user:password@]host[:port][,host...][/database] or " +
		"rediss://..., with the special characters of a password percent-encoded")
	errSeveralHosts = errors.New("the Redis URL names several hosts, but the mode is single")
)

// ConnectOptions are the settings of Connect; the zero value is valid.
type ConnectOptions struct {
	// Cluster says that the URL names one or more nodes of a Redis Cluster. The other nodes are found through them. User, password and TLS
	// are for all nodes.
	Cluster bool
	// Sentinel, when set, says that the URL's hosts are sentinels, and by which name they know the server. The URL's user and password are
	// the server's, its TLS is for both.
	Sentinel *SentinelOptions
	// URLNow returns the current URL; nil if it never changes. Each new connection uses that URL's user and password, so that they may be replaced.
	// While URLNow fails, its last result counts.
	URLNow func() (string, error)
	// TLS returns the authorities for the certificates of servers of a rediss:// URL, and a client certificate. A nil TLS, or a nil result, means the
	// system's authorities and no client certificate. It is called for each new connection, so that files may be replaced. While it fails, its last
	// result counts.
	TLS func() (*tls.Config, error)
	// Timeout bounds each write and each read, and how long a server may be silent before a waiting caller gives up, unless the context has
	// a patience of its own (pause.WithPatience). Connecting may take two fifths of Timeout, at least dialTime, but never more than Timeout.
	// Default one second.
	Timeout time.Duration
	// Waiting says whether changes wait for replicas. A change that too few replicas have fails with ErrNotReplicated.
	Waiting Waiting
	// Tracer makes spans of scripts; nil: none.
	Tracer trace.Tracer
	// PoolSize is how many connections are used at once. Default 32; with more, scripts would only wait in the server, which runs one at a
	// time.
	PoolSize int // of each node
}

// poolSize is the default of PoolSize.
const poolSize = 32

// silence returns how long a server may be silent.
func (o ConnectOptions) silence() time.Duration { return cmp.Or(o.Timeout, time.Second) }

func (o ConnectOptions) shared() *shared {
	return &shared{silence: o.silence(), waiting: o.Waiting, metrics: newScriptMetrics()}
}

// dialTime is how long connecting may take by default. While nothing answers, the pool tries once, waits a second and tries
// again, so it notices a Redis that came back within twice dialTime and a second.
const dialTime = 400 * time.Millisecond

// dial returns how long connecting may take, for the timeout of a read.
func dial(timeout time.Duration) time.Duration { return min(timeout, max(dialTime, timeout*2/5)) }

// Connect makes a client for one Redis server or a cluster; it does not yet connect. It honours the options in the URL's query, except for
// retries, since a change whose reply was lost may have been made. It silences go-redis's own logger, for the whole process.
func Connect(rawURL string, o ConnectOptions) (*Client, error) {
	logging.Disable()
	if o.Cluster {
		return connectCluster(rawURL, o)
	}
	if o.Sentinel != nil {
		return connectSentinel(rawURL, o)
	}
	opts, err := clientOptions(rawURL, o)
	if err != nil {
		return nil, err
	}
	return o.single(newNode(opts, o.shared(), redis.NewClient)), nil
}

func (o ConnectOptions) single(n *node) *Client {
	return &Client{UniversalClient: n.Client, shared: n.shared, tracer: o.Tracer, only: n}
}

// clusterPort and sentinelPort are the ports of hosts without one in the URL.
const (
	clusterPort  = "6379"
	sentinelPort = "26379"
)

func connectCluster(rawURL string, o ConnectOptions) (*Client, error) {
	base, seeds, ok := severalHosts(rawURL, clusterPort, o)
	if !ok || base.DB != 0 {
		return nil, errClusterURL
	}
	c := newCluster(seeds, o.shared(), func(address string) *redis.Options {
		opts := *base
		opts.Addr = address
		return &opts
	})
	return &Client{UniversalClient: c, shared: c.shared, tracer: o.Tracer, cluster: c}, nil
}

func connectSentinel(rawURL string, o ConnectOptions) (*Client, error) {
	opts, hosts, ok := severalHosts(rawURL, sentinelPort, o)
	if !ok {
		return nil, errSentinelURL
	}
	n := newNode(opts, o.shared(), failover(hosts, *o.Sentinel))
	n.masterOnly = true
	return o.single(n), nil
}

// severalHosts returns the options for the servers of a URL with several hosts, and the hosts with their ports. ok is false when one is missing.
func severalHosts(rawURL, defaultPort string, o ConnectOptions) (opts *redis.Options, hosts []string, ok bool) {
	u, ok := storeurl.Split(rawURL)
	if !ok {
		return nil, nil, false
	}
	hosts = u.Addresses(defaultPort)
	opts, err := clientOptions(u.First(), o)
	ok = err == nil && opts.Network == "tcp" && !slices.ContainsFunc(hosts, func(host string) bool { return strings.HasPrefix(host, ":") })
	return opts, hosts, ok
}

// clientOptions returns the options of a client for one server.
func clientOptions(rawURL string, o ConnectOptions) (*redis.Options, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errURL
	}
	if strings.Contains(u.Host, ",") {
		return nil, errSeveralHosts
	}
	opts, err := redis.ParseURL(rawURL)
	if err != nil {
		return nil, errURL
	}
	timeout := o.silence()
	opts.DialTimeout = cmp.Or(opts.DialTimeout, dial(timeout))
	opts.ReadTimeout = cmp.Or(opts.ReadTimeout, timeout)
	opts.WriteTimeout = cmp.Or(opts.WriteTimeout, timeout)
	opts.PoolTimeout = cmp.Or(opts.PoolTimeout, timeout)
	opts.PoolSize = cmp.Or(opts.PoolSize, o.PoolSize, poolSize)
	opts.MaxRetries = -1
	opts.DialerRetries = 1
	opts.ContextTimeoutEnabled = true

	// The service uses no RESP3, CLIENT SETINFO or maintenance notices, and each costs commands on every connection.
	opts.Protocol = 2
	opts.DisableIdentity = true
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	opts.Dialer = newDialer(opts, o.TLS).dial
	if o.URLNow != nil {
		rotating(opts, o.URLNow)
	}
	return opts, nil
}
