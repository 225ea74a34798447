package apikey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/platform/cached"
)

// Source is where a Cache reads keys: the archive. It returns ErrNotFound for a
// key that does not exist. Any other error means that the archive did not answer.
type Source interface {
	Key(ctx context.Context, keyID string) (*Key, error)
}

// Cache finds a key by its secret, in memory if possible. It also caches that an id does not exist. While the
// archive is down it serves what it holds. Callers must not change its keys. It is safe for concurrent use.
type Cache struct {
	byID  *cached.Cache[string, *Key]
	now   func() time.Time
	meter *Meter // nil: nothing is counted
}

// loadsAtOnce bounds the keys that are read from the archive at the same time. The key decides whom a request is charged
// to, so it is looked up before any limit: a flood of well-formed, invented keys must not take every connection.
const loadsAtOnce = 3

// NewCache returns a Cache that holds at most size keys, and remembers as many ids that do not exist.
// now is the clock for expiry. meter counts the requests of authenticated keys; it may be nil.
func NewCache(source Source, size int, now func() time.Time, meter *Meter) *Cache {
	turns := make(chan struct{}, loadsAtOnce)
	load := func(ctx context.Context, keyID string) (*Key, error) {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-ctx.Done():
			return nil, fmt.Errorf("wait to read an API key: %w", ctx.Err())
		}
		k, err := source.Key(ctx, keyID)
		if err != nil {
			return nil, fmt.Errorf("read an API key: %w", err)
		}
		// Granted searches in the order of Go's strings. An archive's collation may sort in another.
		if !slices.IsSorted(k.GuildIDs) {
			sorted := *k
			sorted.GuildIDs = slices.Sorted(slices.Values(k.GuildIDs))
			k = &sorted
		}
		return k, nil
	}
	unknown := func(err error) bool { return errors.Is(err, ErrNotFound) }
	return &Cache{byID: cached.New(load, cached.Options{Size: size, Absent: unknown}), now: now, meter: meter}
}

// Authenticate returns the key whose text was presented. Every wrong key (malformed, unknown,
// revoked, expired, another secret) is the same Unauthenticated fault, so that an answer does not
// tell which ids exist. If the archive must be asked and does not answer, the fault is Unavailable.
func (c *Cache) Authenticate(ctx context.Context, presented string) (*Key, error) {
	now := c.now()
	found, err := c.find(ctx, presented, now)
	if err != nil {
		return nil, err
	}
	c.meter.count(found.ID, now)
	return found, nil
}

// InMemory reports whether Authenticate can answer without the archive.
func (c *Cache) InMemory(presented string) bool {
	keyID, err := Parse(presented)
	return err != nil || c.byID.Has(keyID)
}

// Recheck authenticates a request that is still running, such as a stream of events, without counting it again.
func (c *Cache) Recheck(ctx context.Context, presented string) (*Key, error) {
	return c.find(ctx, presented, c.now())
}

func (c *Cache) find(ctx context.Context, presented string, now time.Time) (*Key, error) {
	keyID, err := Parse(presented)
	if err != nil {
		return nil, invalid(err)
	}
	found, err := c.byID.Get(ctx, keyID)
	if errors.Is(err, ErrNotFound) {
		return nil, invalid(err)
	}
	if err != nil {
		return nil, fault.Down("authenticate", err)
	}
	if !found.Matches(presented, now) {
		return nil, invalid(errors.New("the secret is not that of the key with its id"))
	}
	if found.Expired(now) {
		return nil, invalid(errors.New("the key has expired"))
	}
	return found, nil
}

// Changed invalidates a key that was created, changed or revoked. If it was cached, it is read again at once.
func (c *Cache) Changed(keyID string) { c.byID.Renew(keyID) }

// Forget invalidates a key without reading it again.
func (c *Cache) Forget(keyID string) { c.byID.Forget(keyID) }

// Prefetch loads the key into memory, if the archive has it, so that the key works even if the archive goes down.
func (c *Cache) Prefetch(ctx context.Context, keyID string) { _, _ = c.byID.Get(ctx, keyID) }

// ForgetAll drops everything.
func (c *Cache) ForgetAll() { c.byID.ForgetAll() }

func invalid(why error) *fault.Error {
	return fault.Wrap(why, fault.Unauthenticated,
		"The API key is missing or not valid. Send one that is neither revoked nor expired in the header X-Api-Key.")
}
