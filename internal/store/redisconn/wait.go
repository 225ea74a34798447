package redisconn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Waiting makes changes wait for replicas before they are answered. With the zero value they do not wait.
type Waiting struct {
	// Replicas is how many of them must have a change.
	Replicas int
	// Timeout is how long a change waits for that, at most; it must be well below the patience with a silent server.
	Timeout time.Duration
}

const (
	// waitingBatches is how many batches of changes are under way at the same time when each waits for replicas. Meanwhile the server works on
	// the next.
	waitingBatches = 4
	// waitingRuns is how many changes outside of batches wait at the same time, on each node. These and the batches use half of the
	// connections. The other half is for reads, which must continue without replicas.
	waitingRuns = 12
	// waitMargin is the part of a command's remaining time that is reserved for its answer.
	waitMargin = 50 * time.Millisecond
)

// ErrNotReplicated reports a change that was made and that too few replicas have.
var ErrNotReplicated = errors.New("too few replicas have the change")

var errWaitingFull = errors.New("too many changes wait for replicas")

// command returns a WAIT, to be sent on the same connection as the changes. WAIT covers all earlier changes of the server, so also the one that
// a replay reports.
func (w Waiting) command(ctx context.Context) *redis.IntCmd {
	timeout := w.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline)-waitMargin)
	}
	// WAIT takes 0 as no timeout.
	return redis.NewIntCmd(ctx, "wait", w.Replicas, max(timeout.Milliseconds(), 1))
}

// enough returns ErrNotReplicated unless WAIT has answered that enough replicas have the change.
func (w Waiting) enough(cmd *redis.IntCmd) error {
	if err := cmd.Err(); err != nil {
		return fmt.Errorf("%w: wait: %w", ErrNotReplicated, err)
	}
	if n := cmd.Val(); n < int64(w.Replicas) {
		return fmt.Errorf("%w: %d of %d replicas have it", ErrNotReplicated, n, w.Replicas)
	}
	return nil
}

// waits reports whether the script's changes wait for replicas.
func (s *shared) waits(sc *Script) bool { return sc.Waits && s.waiting.Replicas > 0 }

// enterWaiting bounds the changes that wait for the replicas of this node. Each node of a cluster has its own bound.
func (n *node) enterWaiting(ctx context.Context, patience time.Duration) (leave func(), err error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case n.entered <- struct{}{}:
		return func() { <-n.entered }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, errWaitingFull
	}
}

// Replicas returns how many replicas are connected to the server; in a cluster, to the master with the fewest.
func (c *Client) Replicas(ctx context.Context) (int, error) {
	told, err := c.infos(ctx, "replication")
	least := math.MaxInt
	for _, fields := range told {
		connected, unread := strconv.Atoi(fields["connected_slaves"])
		err, least = errors.Join(err, unread), min(least, connected)
	}
	if err != nil {
		return 0, fmt.Errorf("redis: count the replicas: %w", err)
	}
	return least, nil
}
