package redisconn

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/pause"
)

const (
	// redirects is how many answers that name another node are followed without a pause.
	redirects = 3
	// leastPause and longestPause are between two attempts at a slot that cannot be served at the moment.
	leastPause   = 5 * time.Millisecond
	longestPause = 80 * time.Millisecond
	// leastPatience is with a node that is asked when hardly any is left.
	leastPatience = 50 * time.Millisecond
)

var errNoMaster = errors.New("no master of the cluster serves the slot")

// direction is what an answer of a cluster says about where to go, or to wait. With any of them but here, nothing ran.
type direction int

const (
	here  direction = iota // the answer is the command's own, or there is none
	moved                  // the slot is another node's
	asked                  // what there is of the slot's keys is on another node already, which must be told that it was asked for
	later                  // neither node can tell at the moment, or none serves the slot
)

// directionOf reads an error; address is of the node that it names.
func directionOf(err error) (d direction, address string) {
	if err == nil {
		return here, ""
	}
	if errors.Is(err, errNoMaster) {
		return later, ""
	}
	if address, ok := redis.IsMovedError(err); ok {
		return moved, address
	}
	if address, ok := redis.IsAskError(err); ok {
		return asked, address
	}
	if redis.IsTryAgainError(err) || redis.IsClusterDownError(err) || redis.IsLoadingError(err) ||
		redis.IsReadOnlyError(err) || redis.IsMasterDownError(err) {
		return later, ""
	}
	return here, ""
}

// nothingRan reports whether an error is a cluster's word that a command was not carried out.
func nothingRan(err error) bool {
	where, _ := directionOf(err)
	return where != here
}

// Unanswered reports whether an error is not the command's own: its node could not be asked, or a cluster said that nothing ran.
func Unanswered(err error) bool { return !answered(err) || nothingRan(err) }

// follow calls send with the node that serves the slot, and again, for as long as the caller is patient, only where the cluster says that
// nothing ran: on the node that it names, or after a pause. A command whose connection failed may have run.
func (c *cluster) follow(ctx context.Context, slot int, send func(ctx context.Context, n *node, asking bool) error) error {
	until := time.Now().Add(c.patience(ctx))
	wait := leastPause
	table, err := c.slotTable(ctx)
	if err != nil {
		return err
	}
	sendCtx := ctx
	for n, asking, hops := table.nodes[slot], false, 0; ; hops++ {
		err := errNoMaster
		if n != nil {
			err = send(sendCtx, n, asking)
		}
		where, address := directionOf(err)
		if where == here {
			if !answered(err) && ctx.Err() == nil {
				c.reloadSoon(table)
			}
			return err
		}
		if where == moved {
			n.doubt() // a master that was made a replica may hold another's data when it is a master again
		}
		if hops >= redirects || where == later {
			if time.Now().Add(wait).After(until) || !pause.For(ctx, wait) {
				return err
			}
			wait = min(2*wait, longestPause)
		}
		if address != "" {
			address = completeAddress(address, n.Options().Addr)
		}
		// An answer that names a node is followed there, whatever the table says by then: the one who answered knows best.
		if where != asked {
			c.reloadUntil(ctx, until, table, address)
			table = c.table.Load()
		}
		if n, asking = table.nodes[slot], where == asked; address != "" {
			if n, err = c.nodeAt(address); err != nil {
				return err
			}
		}
		sendCtx = pause.WithPatience(ctx, max(time.Until(until), leastPatience))
	}
}

// reloadUntil waits for another table, but not longer than that: nodes that hang must not hold up who could be served by others.
func (c *cluster) reloadUntil(ctx context.Context, until time.Time, seen *slotTable, address string) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	_ = c.reload(ctx, seen, address)
}

func (c *cluster) patience(ctx context.Context) time.Duration {
	return cmp.Or(pause.Patience(ctx), c.shared.silence)
}
