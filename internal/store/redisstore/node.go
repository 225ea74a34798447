package redisstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// node is one Redis server at one address: a connection pool that knows which life of the server it talks to.
//
// A server that comes back from a crash, or a replica that takes over, may hold older data than the one before. What it holds
// of a guild must then be compared with the archive before anything of it is used. So each life of a server has an identity,
// every script is loaded under a digest of its own for each identity, and a guild's meta says on which one the guild was
// verified. A script can therefore neither run on a server that it was not made for (NOSCRIPT: nothing has run), nor use a
// guild that was not verified there (NOTLOADED), at no extra round trip.
type node struct {
	*redis.Client
	gate       *gate
	masterOnly bool // a replica is not taken for the server: sentinels name the master, and may be wrong for a moment

	calls   sync.Map      // lane: its *coalescer for this node of a cluster
	waiting chan struct{} // holds one for each change that is sent by itself and waits for replicas

	current atomic.Pointer[server]
	// What was heard may say that the server is another one by now, without a new connection: how often, and how many of those
	// times it was asked since.
	doubts, settled atomic.Int64
	turn            chan struct{} // holds one while scripts are loaded; not a mutex, or who waits could not give up
}

// newNode makes a node for clientOptions; silence is the gate's.
func newNode(opts *redis.Options, silence time.Duration) *node {
	n := &node{turn: make(chan struct{}, 1), waiting: make(chan struct{}, waitingRuns), gate: newGate(opts.PoolSize, silence)}
	opts.OnConnect = n.connected
	n.Client = redis.NewClient(opts)
	n.AddHook(n.gate)
	return n
}

// doubt makes the next call ask who the server is.
func (n *node) doubt() { n.doubts.Add(1) }

// alive asks for a sign of life; one that the server gave to another meanwhile will do. Of a server that cannot save to its disk
// that is its refusal of PING: it answers reads, and only writes are refused.
func (n *node) alive(ctx context.Context) error {
	began := time.Now()
	err := n.Ping(ctx).Err()
	if errors.Is(err, context.DeadlineExceeded) && n.gate.lastHeard().After(began) || writesRefused(err) {
		return nil
	}
	return err
}

// serverAttempts bounds how often one call follows a server that changes under it.
const serverAttempts = 3

// onServer calls send with the server that is talked to, again when that one does not know its scripts: then none has run.
func (n *node) onServer(ctx context.Context, send func(on *server) error) (err error) {
	var on *server
	for range serverAttempts {
		if on, err = n.server(ctx, on); err != nil {
			return err
		}
		if err = send(on); !redis.HasErrorPrefix(err, "NOSCRIPT") {
			return err
		}
	}
	return err
}

// evalSHA is the command that runs a script.
func evalSHA(ctx context.Context, digest string, keys []string, args []any) once {
	words := make([]any, 0, 3+len(keys)+len(args))
	words = append(words, "evalsha", digest, len(keys))
	for _, key := range keys {
		words = append(words, key)
	}
	return scriptCommand(ctx, append(words, args...))
}

// scriptCommand is the command with these words, of which the fourth is the first key.
func scriptCommand(ctx context.Context, words []any) once {
	cmd := once{redis.NewCmd(ctx, words...)}
	cmd.SetFirstKeyPos(3)
	return cmd
}

// once is a command that no kind of client sends again by itself, whatever its options say. A reply that was lost does
// not tell whether the script ran, so sending it again could apply a change twice.
type once struct{ *redis.Cmd }

// NoRetry is what go-redis asks before it repeats a command.
func (once) NoRetry() bool { return true }
