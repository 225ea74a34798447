package redisstore

import (
	"context"
	"fmt"
	"runtime"
)

// MaxCalls and BatchCalls are the bounds of the coalescer.
const (
	MaxCalls   = maxCalls
	BatchCalls = batchCalls
)

// Hold makes small calls wait until release, which sends them and returns when none waits.
func (s *Store) Hold() (release func()) {
	for !s.hold() {
		runtime.Gosched()
	}
	return s.calls.only.send
}

// hold takes the place of the one sender, once the one before has found that nobody waits.
func (s *Store) hold() bool {
	s.calls.only.mu.Lock()
	defer s.calls.only.mu.Unlock()
	if s.calls.only.senders > 0 {
		return false
	}
	s.calls.only.senders = batchesAtOnce
	return true
}

// Waiting is how many small calls wait, and how many goroutines send them.
func (s *Store) Waiting() (calls, senders int) {
	s.calls.only.mu.Lock()
	defer s.calls.only.mu.Unlock()
	return len(s.calls.only.waiting), s.calls.only.senders
}

// LoadOnly makes the server forget all scripts but one.
func (c *Client) LoadOnly(ctx context.Context, name string) error {
	on, err := c.only.server(ctx, nil)
	if err == nil {
		err = c.ScriptFlush(ctx).Err()
	}
	if err != nil {
		return err
	}
	for _, sc := range scripts {
		if sc.name == name {
			return c.ScriptLoad(ctx, sc.textFor(on.identity)).Err()
		}
	}
	return fmt.Errorf("no script %s", name)
}

// Client is what the store speaks by.
func (s *Store) Client() *Client { return s.client }
