// Package redisstore is the live store: the boards of the loaded guilds in Redis. Every change is one Lua script
// (scripts/), which is atomic and is never sent twice; docs/redis-keys.md lists the keys.
//
// It speaks to one Redis 7.0 or newer, to a Redis Cluster, or to the in-process Redis of package embedded.
package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Store is a leaderboard.Board, a snapshot.Live, an events.Log and a signin.Store on Redis. It is safe for concurrent use and holds no state of a guild.
type Store struct {
	client  *Client
	calls   *coalescers
	indexer *indexer
	observe func(script string, d time.Duration, err error)
	trace   func(ctx context.Context, script string, began time.Time, err error)
	sieves  sieves
	wait    *waiter // nil: changes do not wait for replicas
}

var (
	_ leaderboard.Board = (*Store)(nil)
	_ snapshot.Live     = (*Store)(nil)
	_ events.Log        = (*Store)(nil)
)

// Options are what a Store can be told; the zero value will do.
type Options struct {
	// Observe, when set, is called after every script with its name, how long the caller waited for it, and its error. It
	// must be safe for concurrent use. Metrics.Observe fits.
	Observe func(script string, d time.Duration, err error)
	// Trace, when set, is called after every script with its caller's context and when the wait for it began. It must be
	// safe for concurrent use. Traced gives one.
	Trace func(ctx context.Context, script string, began time.Time, err error)
	// Wait says whether changes wait for replicas; what then has too few of them fails with leaderboard.ErrNotReplicated.
	Wait Waiting
}

// New returns a Store on a client, which comes from Connect. The client stays the caller's to close.
func New(client *Client, opts Options) *Store {
	s := &Store{client: client, observe: opts.Observe, trace: opts.Trace, sieves: newSieves(), wait: newWaiter(opts.Wait)}
	s.calls = newCoalescers(s)
	s.indexer = &indexer{add: s.addToIndex}
	return s
}

// index puts guilds into the index of those with changes that wait for a snapshot. A failure is nobody's: the changes are
// made, and the snapshot writer's sweep finds their guilds.
func (s *Store) index(ctx context.Context, guilds []any) {
	if s.client.cluster != nil {
		s.indexer.put(guilds)
		return
	}
	_ = s.addToIndex(ctx, guilds)
}

func (s *Store) addToIndex(ctx context.Context, guilds []any) error {
	return s.client.SAdd(ctx, dirtyGuildsKey, guilds...).Err()
}

// Collector has the metrics of the small calls that are sent together.
func (s *Store) Collector() prometheus.Collector { return s.calls }

// Ping asks the server for a sign of life. When ctx ends before there is a connection free, one that it gave to another
// meanwhile will do. Of a cluster, more than half of the masters have to answer, as for the cluster itself.
func (s *Store) Ping(ctx context.Context) error {
	answers, err := s.client.eachMaster(ctx, func(n *node) error { return n.alive(ctx) })
	if err != nil {
		return fmt.Errorf("redis: ping: %w", err)
	}
	var failures []error
	for _, err := range answers {
		if err != nil {
			failures = append(failures, err)
		}
	}
	if 2*len(failures) >= len(answers) {
		return fmt.Errorf("redis: ping: %w", errors.Join(failures...))
	}
	return nil
}
