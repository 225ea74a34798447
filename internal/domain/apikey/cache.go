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

// Source is where a Cache reads keys: the archive. It returns ErrNotFound for a key that does not exist; every other
// error means that it could not be asked.
type Source interface {
	Key(ctx context.Context, keyID string) (*Key, error)
}

// Cache finds the key of a secret, in memory if possible; it also remembers unknown ids. While the archive is down it serves what it holds. Callers
// must not change its keys. It is safe for concurrent use.
type Cache struct {
	byID  *cached.Cache[string, *Key]
	now   func() time.Time
	meter *Meter // nil: nothing is counted
}

// loadsAtOnce bounds the keys that are read from the archive at the same time. A key is looked up before its request is charged, since the key
// decides whom to charge; so a flood of well-formed, invented keys must not take every connection.
const loadsAtOnce = 3

// NewCache returns a Cache that holds at most size keys, and as many ids without a key; now is the clock for
// expiry, and meter, which may be nil, counts the requests of keys that are authenticated.
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
		// Granted searches in the order of Go's strings, which an archive's collation need not share.
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

// Authenticate returns the key whose text was presented. Whatever is wrong with it (malformed, unknown, revoked, expired,
// another secret) is the same Unauthenticated fault, so that an answer tells nothing about which ids exist. When the
// archive had to be asked and did not answer, it is an Unavailable fault.
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

// Recheck authenticates a request that continues, such as a stream of events, without counting it again.
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

// Changed tells that the key was created, changed or revoked: nothing that was known of it is used from now on. If it was in use, it is
// read again at once.
func (c *Cache) Changed(keyID string) { c.byID.Renew(keyID) }

// Forget is Changed without reading the key again.
func (c *Cache) Forget(keyID string) { c.byID.Forget(keyID) }

// Prefetch loads the key into memory, if the archive has it, so that it is known even if the archive goes down.
func (c *Cache) Prefetch(ctx context.Context, keyID string) { _, _ = c.byID.Get(ctx, keyID) }

// ForgetAll drops everything.
func (c *Cache) ForgetAll() { c.byID.ForgetAll() }

func invalid(why error) *fault.Error {
	return fault.Wrap(why, fault.Unauthenticated,
		"The API key is missing or not valid. Send one that is neither revoked nor expired in the header X-Api-Key.")
}
