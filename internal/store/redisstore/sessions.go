package redisstore

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/signin"
)

var _ signin.Store = (*Store)(nil)

// PutSession implements signin.Store. It writes the user's list first, so that the list never lacks a session. It uses no pipeline, since on a
// cluster the two keys are in different slots and a pipeline has no order.
func (s *Store) PutSession(ctx context.Context, kept signin.Kept, ttl time.Duration, o signin.PutOptions) error {
	list := sessionsKey(kept.User)
	var older *redis.StringSliceCmd
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRemRangeByScore(ctx, list, "-inf", strconv.FormatInt(o.Now.UnixMilli(), 10))
		p.ZAdd(ctx, list, redis.Z{Score: float64(kept.Ends.UnixMilli()), Member: hashText(kept.Hash)})
		p.PExpire(ctx, list, signin.LifeTime)
		older = p.ZRange(ctx, list, 0, int64(-o.Limit-1))
		return nil
	})
	if err == nil {
		err = s.client.Set(ctx, sessionKey(kept.Hash), kept.Sealed, ttl).Err()
	}
	if err == nil {
		err = s.dropSessions(ctx, list, older.Val())
	}
	return wrap("put a session", err)
}

// Session implements signin.Store.
func (s *Store) Session(ctx context.Context, h signin.Hash) ([]byte, error) {
	sealed, err := s.client.Get(ctx, sessionKey(h)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, signin.ErrNoSession
	}
	return sealed, wrap("read a session", err)
}

// ClaimSession implements signin.Store. While the server rejects writes it grants no claim: the session could not be replaced either, and stays
// readable.
func (s *Store) ClaimSession(ctx context.Context, h signin.Hash, hold time.Duration) (bool, error) {
	err := s.client.SetArgs(ctx, sessionClaimKey(h), "", redis.SetArgs{Mode: "NX", TTL: hold}).Err()
	if errors.Is(err, redis.Nil) || fault.ChangesRefused(err) != "" {
		return false, nil
	}
	return err == nil, wrap("claim a session", err)
}

// ReplaceSession implements signin.Store.
func (s *Store) ReplaceSession(ctx context.Context, h signin.Hash, sealed []byte, ttl time.Duration) error {
	var replaced *redis.StatusCmd
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		replaced = p.SetArgs(ctx, sessionKey(h), sealed, redis.SetArgs{Mode: "XX", TTL: ttl})
		p.Del(ctx, sessionClaimKey(h))
		return nil
	})
	if errors.Is(replaced.Err(), redis.Nil) {
		return signin.ErrNoSession
	}
	return wrap("replace a session", err)
}

// EndSession implements signin.Store.
func (s *Store) EndSession(ctx context.Context, user id.User, h signin.Hash) error {
	return wrap("end a session", s.dropSessions(ctx, sessionsKey(user), []string{hashText(h)}))
}

// EndSessions implements signin.Store. It drops only the sessions that it listed: one that begins meanwhile stays.
func (s *Store) EndSessions(ctx context.Context, user id.User) error {
	list := sessionsKey(user)
	hashes, err := s.client.ZRange(ctx, list, 0, -1).Result()
	if err == nil {
		err = s.dropSessions(ctx, list, hashes)
	}
	return wrap("end all sessions of a user", err)
}

// dropSessions removes the sessions before their list, so that a call that fails midway can be repeated.
func (s *Store) dropSessions(ctx context.Context, list string, hashes []string) error {
	if len(hashes) == 0 {
		return nil
	}
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, hash := range hashes {
			p.Del(ctx, sessionPrefix+hash)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.client.ZRem(ctx, list, hashes).Err()
}

func hashText(h signin.Hash) string { return base64.RawURLEncoding.EncodeToString(h[:]) }
