package redisstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/signin"
)

// usersAtOnce is how many users SessionUsers hands out at a time.
const usersAtOnce = 500

// EraseAccess implements erasure.Live. The names of the budgets are those of package ratelimit.
func (s *Store) EraseAccess(ctx context.Context, user id.User, keys []string) error {
	if err := s.EndSessions(ctx, user); err != nil {
		return err
	}
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Del(ctx, sessionsKey(user))
		p.Del(ctx, "rate:lb:i:"+string(user))
		for _, key := range keys {
			p.Del(ctx, "rate:lb:k:"+key)
		}
		return nil
	})
	return wrap("erase the access of a user", err)
}

// CountSessions implements erasure.Live.
func (s *Store) CountSessions(ctx context.Context, user id.User) (int64, error) {
	now, err := s.Clock(ctx)
	if err != nil {
		return 0, err
	}
	n, err := s.client.ZCount(ctx, sessionsKey(user), "("+strconv.FormatInt(now.UnixMilli(), 10), "+inf").Result()
	return n, wrap("count sessions", err)
}

// SessionUsers implements erasure.Live.
func (s *Store) SessionUsers(ctx context.Context, each func([]id.User) error) error {
	keys, err := s.allKeys(ctx, sessionsPrefix+"*")
	if err != nil {
		return wrap("list users with sessions", err)
	}
	for part := range slices.Chunk(keys, usersAtOnce) {
		users := make([]id.User, len(part))
		for i, key := range part {
			users[i] = id.User(strings.TrimPrefix(key, sessionsPrefix))
		}
		if err := each(users); err != nil {
			return err
		}
	}
	return nil
}

// EndSessionsBefore implements erasure.Live. The list has for each session its latest end, which is signin.LifeTime after its begin.
func (s *Store) EndSessionsBefore(ctx context.Context, user id.User, until time.Time) error {
	list := sessionsKey(user)
	hashes, err := s.client.ZRangeArgs(ctx, redis.ZRangeArgs{Key: list, ByScore: true, Start: "-inf", Stop: until.Add(signin.LifeTime).UnixMilli()}).Result()
	if err == nil {
		err = s.dropSessions(ctx, list, hashes)
	}
	return wrap("end old sessions of a user", err)
}
