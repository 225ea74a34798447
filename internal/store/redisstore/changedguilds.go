package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisconn"
)

// takeGuilds is how many guilds one command removes from the index.
const takeGuilds = 1000

// scanCount is how many keys one step of a walk over all keys looks at. A step blocks the server for well below a millisecond.
const scanCount = 250

// NoteChanges adds the guilds that this process changes to the index, each second, until ctx ends.
func (s *Store) NoteChanges(ctx context.Context, log *slog.Logger) { s.changed.Run(ctx, log) }

// noteChanged remembers a guild for the index, unless a script refused to change it. After any other error it may have changed.
func (s *Store) noteChanged(g id.Guild, err error) {
	if _, refused := errors.AsType[redisconn.Refusal](err); !refused {
		s.changed.Add(g)
	}
}

// ChangedGuilds implements snapshot.Live. It includes this process' changes at once. If it fails midway, it returns the guilds taken so far with
// the error. These guilds, and any in a lost reply, are no longer in the index.
func (s *Store) ChangedGuilds(ctx context.Context) ([]id.Guild, error) {
	return s.taken(ctx, changedKey)
}

// TakeEventful implements announce.Live. It fails like ChangedGuilds.
func (s *Store) TakeEventful(ctx context.Context) ([]id.Guild, error) {
	return s.taken(ctx, eventfulKey)
}

// taken removes all guilds from an index and returns them.
func (s *Store) taken(ctx context.Context, index string) ([]id.Guild, error) {
	var guilds []id.Guild
	if err := s.changed.Flush(ctx); err != nil {
		return nil, err
	}
	for {
		taken, err := s.client.ZPopMin(ctx, index, takeGuilds).Result()
		if err != nil {
			return guilds, fmt.Errorf("redis: guilds of %s: %w", index, err)
		}
		for _, z := range taken {
			text, _ := z.Member.(string)
			if g, err := id.Parse[id.Guild](text); err == nil {
				guilds = append(guilds, g)
			}
		}
		if len(taken) < takeGuilds {
			return guilds, nil
		}
	}
}

// LoadedGuilds implements snapshot.Live. It walks all keys in small steps, so a guild that is loaded, dropped or moved meanwhile may or
// may not be in the answer. When it fails on a node, it returns the guilds of the others with the error.
func (s *Store) LoadedGuilds(ctx context.Context) ([]id.Guild, error) {
	metas, err := s.allKeys(ctx, loadedPattern)
	var guilds []id.Guild
	for _, key := range metas {
		if g, ok := guildOfMeta(key); ok {
			guilds = append(guilds, g)
		}
	}
	return guilds, wrap("loaded guilds", err)
}

// allKeys lists the keys of a pattern, each once. If a server fails, it returns those of the others with the error.
func (s *Store) allKeys(ctx context.Context, pattern string) (found []string, err error) {
	var mu sync.Mutex
	err = s.client.EachMaster(ctx, func(master *redis.Client) error {
		keys := master.Scan(ctx, 0, pattern, scanCount).Iterator()
		for keys.Next(ctx) {
			mu.Lock()
			found = append(found, keys.Val())
			mu.Unlock()
		}
		return keys.Err()
	})
	slices.Sort(found)
	return slices.Compact(found), err
}

// MarkChanged implements snapshot.Live.
func (s *Store) MarkChanged(ctx context.Context, guilds ...id.Guild) error {
	for part := range slices.Chunk(guilds, takeGuilds) {
		if err := s.index(ctx, changedKey, part); err != nil {
			return err
		}
	}
	return nil
}

// noteGuilds adds guilds that this process changed to both indexes.
func (s *Store) noteGuilds(ctx context.Context, guilds []id.Guild) error {
	if err := s.index(ctx, changedKey, guilds); err != nil {
		return err
	}
	return s.index(ctx, eventfulKey, guilds)
}

// index adds guilds to an index, unless they are there, with the time and their order as scores. So guilds leave the index in about the order
// of their first change.
func (s *Store) index(ctx context.Context, index string, guilds []id.Guild) error {
	members, now := make([]redis.Z, len(guilds)), float64(time.Now().UnixMilli())
	for i, g := range guilds {
		members[i] = redis.Z{Score: now + float64(i)/takeGuilds, Member: string(g)}
	}
	return wrap("mark changed", s.client.ZAddNX(ctx, index, members...).Err())
}
