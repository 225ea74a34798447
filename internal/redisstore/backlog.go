package redisstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"levelboard/internal/id"
	"levelboard/internal/snapshot"
)

// Backlog implements snapshot.Live. It costs the server a few microseconds for each guild that is asked about.
func (s *Store) Backlog(ctx context.Context, more []id.Guild) (b snapshot.Backlog, err error) {
	defer s.observed(backlogScript, time.Now(), &err)
	listed, err := s.client.SMembers(ctx, dirtyGuildsKey).Result()
	if err != nil {
		return b, fmt.Errorf("redis: backlog: %w", err)
	}
	indexed := slices.Clone(more)
	for _, g := range listed {
		indexed = append(indexed, id.Guild(g))
	}
	slices.Sort(indexed)
	keys := func(k guildKeys) []string { return []string{k.meta(), k.dirty(), k.flushingPrefix()} }
	err = s.onEach(ctx, backlogScript, slices.Compact(indexed), keys, func(_ id.Guild, r reply, err error) error {
		var members, age int64
		if err == nil {
			err = r.numbers(&members, &age)
		}
		b.Members += members
		b.Oldest = max(b.Oldest, time.Duration(age)*time.Millisecond)
		return err
	})
	return b, err
}
