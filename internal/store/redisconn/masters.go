package redisconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/fault"
)

// EachMaster calls ask with every master at the same time and returns the errors, joined.
func (c *Client) EachMaster(ctx context.Context, ask func(master *redis.Client) error) error {
	_, err := gather(ctx, c, func(n *node) (struct{}, error) { return struct{}{}, ask(n.Client) })
	return err
}

// Lives returns the life of each master: a restart or a promotion changes it.
func (c *Client) Lives(ctx context.Context) ([]string, error) {
	lives, err := gather(ctx, c, func(n *node) (string, error) {
		s, err := n.server(ctx, nil)
		if err != nil {
			return "", err
		}
		return s.identity, nil
	})
	slices.Sort(lives)
	return lives, err
}

// gather asks all masters at the same time. It returns the answers, and the joined errors of masters without one.
func gather[T any](ctx context.Context, c *Client, ask func(n *node) (T, error)) (all []T, err error) {
	var mu sync.Mutex
	var errs []error
	take := func(n *node) error {
		told, err := ask(n)
		mu.Lock()
		defer mu.Unlock()
		if errs = append(errs, err); err == nil {
			all = append(all, told)
		}
		return err
	}
	if c.only != nil {
		_ = take(c.only)
		return all, errors.Join(errs...)
	}
	err = c.cluster.eachMaster(ctx, take)
	return all, errors.Join(append(errs, err)...)
}

// Alive checks that Redis answers. If ctx ends before a connection is free, a recent answer to another command counts. In a cluster more than half
// of the masters must answer, as the cluster itself requires. If a server (in a cluster any master) answers reads and rejects changes, the error is
// its refusal (fault.ChangesRefused).
func (c *Client) Alive(ctx context.Context) error {
	answers, err := gather(ctx, c, func(n *node) (error, error) { return n.alive(ctx), nil })
	if err != nil {
		return fmt.Errorf("redis: ping: %w", err)
	}
	var failures, refusals []error
	for _, err := range answers {
		switch {
		case fault.ChangesRefused(err) != "":
			refusals = append(refusals, err)
		case err != nil:
			failures = append(failures, err)
		}
	}
	if 2*len(failures) >= len(answers) {
		return fmt.Errorf("redis: ping: %w", errors.Join(failures...))
	}
	return errors.Join(refusals...)
}

// writing is a script that writes nothing but may. A server rejects it whenever it rejects changes.
const writing = "#!lua\nreturn 1"

// nodes returns all open nodes.
func (c *Client) nodes() []*node {
	if c.only != nil {
		return []*node{c.only}
	}
	return c.cluster.all()
}
