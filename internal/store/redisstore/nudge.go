package redisstore

import (
	"context"
	"fmt"
)

// Nudge tells every replica that something in the archive's log of changes is new. It says no more than "look now", and
// replicas look by themselves from time to time, so a nudge that gets lost does no harm.
func (s *Store) Nudge(ctx context.Context) error {
	if err := s.client.Publish(ctx, changesChannel, "").Err(); err != nil {
		return fmt.Errorf("redis: nudge: %w", err)
	}
	return nil
}

// Nudges listens for nudges, this replica's own included, until ctx ends; then the channel is closed. Nudges that arrive
// while the last one was not yet taken are one. It connects again by itself, and since nudges may have been lost while it
// was away, each connection made, the first one too, counts as a nudge.
func (s *Store) Nudges(ctx context.Context) <-chan struct{} {
	nudges := make(chan struct{}, 1)
	go func() {
		defer close(nudges)
		sub := s.client.Subscribe(ctx, changesChannel)
		defer func() { _ = sub.Close() }()
		messages := sub.ChannelWithSubscriptions()
		for {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-messages:
				if !ok {
					return
				}
				select {
				case nudges <- struct{}{}:
				default:
				}
			}
		}
	}()
	return nudges
}
