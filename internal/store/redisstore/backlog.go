package redisstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/snapshot"
)

var backlogScript = newScript("backlog", "now")

// Backlog implements snapshot.Live. It costs the server some 10 microseconds for each guild that waits.
func (s *Store) Backlog(ctx context.Context, underway []id.Guild) (b snapshot.Backlog, err error) {
	if err := s.changed.Flush(ctx); err != nil {
		return b, err
	}
	listed, err := s.client.ZRange(ctx, changedKey, 0, -1).Result()
	if err != nil {
		return b, fmt.Errorf("redis: backlog: %w", err)
	}
	waiting := make(map[id.Guild]struct{}, len(listed)+len(underway))
	for _, g := range underway {
		waiting[g] = struct{}{}
	}
	for _, g := range listed {
		waiting[id.Guild(g)] = struct{}{}
	}
	keys := func(k guildKeys) []string { return []string{k.meta(), k.dirty()} }
	err = s.onEach(ctx, backlogScript, slices.Collect(maps.Keys(waiting)), keys, func(_ id.Guild, r reply, err error) error {
		if err != nil {
			return err
		}
		b.Members += r.of("members").number()
		b.Oldest = max(b.Oldest, time.Duration(r.of("age").number())*time.Millisecond)
		return *r.bad
	})
	return b, err
}
