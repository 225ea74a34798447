package redisstore

import (
	"context"
	"crypto/sha1" // #nosec G505 -- the digest that EVALSHA names a script by
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// Client is a connection pool to one Redis that knows which life of a server it talks to.
//
// A server that comes back from a crash, or a replica that takes over, may hold older data than the one before. What it holds
// of a guild must then be compared with the archive before anything of it is used. So each life of a server has an identity,
// every script is loaded under a digest of its own for each identity, and a guild's meta says on which one the guild was
// verified. A script can therefore neither run on a server that it was not made for (NOSCRIPT: nothing has run), nor use a
// guild that was not verified there (NOTLOADED), without a round trip more than before.
type Client struct {
	redis.UniversalClient
	gate *gate

	current atomic.Pointer[server]
	turn    chan struct{} // holds one while scripts are loaded; not a mutex, or who waits could not give up
}

// server is one life of a Redis server.
type server struct {
	identity string
	digests  map[*script]string // names of the scripts that are loaded there, for EVALSHA
}

// session is one connection to one server, which is what makes an identity and the scripts loaded after it belong together.
type session interface {
	Info(ctx context.Context, sections ...string) *redis.StringCmd
	Pipelined(ctx context.Context, fn func(redis.Pipeliner) error) ([]redis.Cmder, error)
}

var errNoIdentity = errors.New("the server does not tell its run_id; Levelboard needs the command INFO to notice that Redis has gone back in time")

// connected is called with each new connection, before anything else is sent on it.
func (c *Client) connected(ctx context.Context, on *redis.Conn) error {
	return c.identify(ctx, on, nil)
}

// server returns the server that is talked to, connecting if need be. With lost, that one does not know its scripts: it was
// another one by then, or it forgot them.
func (c *Client) server(ctx context.Context, lost *server) (*server, error) {
	if s := c.current.Load(); s != nil && s != lost {
		return s, nil
	}
	// A transaction of nothing is how go-redis lends out one connection.
	err := c.gate.pass(ctx, func(ctx context.Context) error {
		return c.Watch(ctx, func(on *redis.Tx) error { return c.identify(ctx, on, lost) })
	})
	if err != nil {
		return nil, fmt.Errorf("redis: identify the server: %w", err)
	}
	return c.current.Load(), nil
}

// identify asks for the server's identity and, if it is not the one known (or lost its scripts), loads the scripts there.
func (c *Client) identify(ctx context.Context, on session, lost *server) error {
	info, err := on.Info(ctx, "server", "replication").Result()
	if redis.HasErrorPrefix(err, "NOPERM") {
		return fmt.Errorf("%w: %w", errNoIdentity, err)
	}
	if err != nil {
		return err
	}
	identity, err := identityOf(info)
	if err != nil {
		return err
	}
	// Not before: the first command on a transaction may have to connect, which is another identification.
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return fmt.Errorf("wait for a turn to load the scripts: %w", ctx.Err())
	}
	if known := c.current.Load(); known != nil && known != lost && known.identity == identity {
		return nil
	}
	next := &server{identity: identity, digests: make(map[*script]string, len(scripts))}
	_, err = on.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, sc := range scripts {
			text := sc.textFor(identity)
			sum := sha1.Sum([]byte(text)) // #nosec G401
			next.digests[sc] = hex.EncodeToString(sum[:])
			p.ScriptLoad(ctx, text)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("load the scripts: %w", err)
	}
	c.current.Store(next)
	return nil
}

// identityOf reads what is another one after each start of the server (run_id) and after each promotion of a replica
// (master_replid2), which may go without a restart.
func identityOf(info string) (string, error) {
	values := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			values[name] = value
		}
	}
	identity := values["run_id"] + "-" + values["master_replid2"]
	if values["run_id"] == "" || strings.Trim(identity, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return "", errNoIdentity // the second: it becomes a string in a script, and nothing more than that
	}
	return identity, nil
}
