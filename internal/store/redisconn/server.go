package redisconn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// server is one life of a Redis server: from a start or promotion to the next.
type server struct {
	identity string
	embedded bool               // the embedded server supports no flags of scripts, and its memory has no limit
	digests  map[*Script]string // names of the scripts that are loaded there, for EVALSHA
}

// session is one connection to one server, so that the identity read on it and the scripts loaded on it belong to the same server.
type session interface {
	Info(ctx context.Context, sections ...string) *redis.StringCmd
	Pipelined(ctx context.Context, fn func(redis.Pipeliner) error) ([]redis.Cmder, error)
}

// serverAttempts bounds how often one call identifies a server that changes meanwhile.
const serverAttempts = 3

var errNoIdentity = errors.New("the server does not tell its run_id; Levelboard needs the command INFO to notice that Redis has gone back in time")

// server returns the current server, and connects if need be. lost, when set, is a server that did not know its scripts: another server has
// taken its place, or it forgot them.
func (n *node) server(ctx context.Context, lost *server) (*server, error) {
	doubts := n.doubts.Load()
	if s := n.current.Load(); s != nil && s != lost && doubts == n.settled.Load() {
		return s, nil
	}
	// go-redis lends out one connection by an empty transaction.
	err := n.gate.pass(ctx, func(ctx context.Context) error {
		return n.Watch(ctx, func(on *redis.Tx) error { return n.identify(ctx, on, lost) })
	})
	if err != nil {
		return nil, fmt.Errorf("redis: identify the server: %w", err)
	}
	n.settled.Store(doubts)
	return n.current.Load(), nil
}

// identify asks for the server's identity. If the server is new, or lost its scripts, it loads the scripts.
func (n *node) identify(ctx context.Context, on session, lost *server) error {
	info, err := on.Info(ctx, "server", "replication").Result()
	if redis.HasErrorPrefix(err, "NOPERM") {
		return fmt.Errorf("%w: %w", errNoIdentity, err)
	}
	if err != nil {
		return err
	}
	if n.masterOnly && strings.Contains(info, "\r\nrole:slave\r\n") {
		return errReplica
	}
	identity, err := identityOf(info)
	if err != nil {
		return err
	}
	// Take the turn only now: the command above may have to connect, and a new connection calls identify itself.
	select {
	case n.turn <- struct{}{}:
		defer func() { <-n.turn }()
	case <-ctx.Done():
		return fmt.Errorf("wait for a turn to load the scripts: %w", ctx.Err())
	}
	if known := n.current.Load(); known != nil && known != lost && known.identity == identity {
		return nil
	}
	next := &server{identity: identity, embedded: fieldsOf(info)["redis_version"] == "", digests: make(map[*Script]string, len(scripts))}
	_, err = on.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, sc := range scripts {
			text := sc.textFor(next)
			next.digests[sc] = digest(text)
			p.ScriptLoad(ctx, text)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("load the scripts: %w", err)
	}
	n.current.Store(next)
	return nil
}

// identityOf reads the identity of a server's life: run_id changes with each start, master_replid2 with each promotion of a replica, which needs no
// restart.
func identityOf(info string) (string, error) {
	values := fieldsOf(info)
	identity := values["run_id"] + "-" + values["master_replid2"]
	if values["run_id"] == "" || strings.Trim(identity, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return "", errNoIdentity // an identity becomes a string in scripts, so it must have no other characters
	}
	return identity, nil
}
