package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

var lastScript = newScript("last")

// BeginLast implements snapshot.Live.
func (s *Store) BeginLast(ctx context.Context, who string, atMost time.Duration) error {
	_, err := s.run(ctx, lastScript, []string{lastSnapshotKey}, who, max(atMost.Milliseconds(), 1))
	return err
}

// EndLast implements snapshot.Live.
func (s *Store) EndLast(ctx context.Context, who string) error {
	_, err := s.run(ctx, lastScript, []string{lastSnapshotKey}, who, 0)
	return err
}

// Last implements snapshot.Live.
func (s *Store) Last(ctx context.Context) (who string, err error) {
	who, err = s.client.Get(ctx, lastSnapshotKey).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", fmt.Errorf("redis: who writes a last snapshot: %w", err)
	}
	return who, nil
}
