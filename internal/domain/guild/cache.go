package guild

import (
	"context"
	"errors"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/cached"
)

// Source reads guilds from the archive. Both methods return ErrNotFound for an unknown guild.
type Source interface {
	Guild(ctx context.Context, g id.Guild) (*Guild, error)
	// GuildByVanity takes the vanity in lower case.
	GuildByVanity(ctx context.Context, vanity string) (*Guild, error)
}

// Cache finds guilds by id or vanity, from memory if possible. It is bounded, and also caches that a guild does not
// exist. While the archive is down it serves what it holds. It shares the guilds that it returns: do not change them.
type Cache struct {
	byID     *cached.Cache[id.Guild, *Guild]
	byVanity *cached.Cache[string, id.Guild]
}

// NewCache returns a Cache that holds at most size guilds and size vanities.
func NewCache(source Source, size int) *Cache {
	return &Cache{
		byID: cached.New(source.Guild, cached.Options{Size: size, Absent: absent}),
		byVanity: cached.New(func(ctx context.Context, vanity string) (id.Guild, error) {
			found, err := source.GuildByVanity(ctx, vanity)
			if err != nil {
				return "", err
			}
			return found.ID, nil
		}, cached.Options{Size: size, Absent: absent}),
	}
}

func absent(err error) bool { return errors.Is(err, ErrNotFound) }

// ByID returns the guild. It returns a NotFound fault for an unknown guild,
// and an Unavailable one if the archive must be asked and does not answer.
func (c *Cache) ByID(ctx context.Context, g id.Guild) (*Guild, error) {
	found, err := c.byID.Get(ctx, g)
	return found, asFault(err)
}

// ByVanity returns the guild with this vanity, which must be in lower case. Its faults are those of ByID.
func (c *Cache) ByVanity(ctx context.Context, vanity string) (*Guild, error) {
	for range 2 {
		g, err := c.byVanity.Get(ctx, vanity)
		if err != nil {
			return nil, asFault(err)
		}
		found, err := c.ByID(ctx, g)
		if err == nil && string(found.Vanity) == vanity {
			return found, nil
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return nil, err
		}
		// The guild was deleted or has given up the vanity; another one may have it now.
		c.byVanity.Forget(vanity)
	}
	return nil, unknown()
}

// Prefetch loads the guild and its vanity into memory, if the archive has them. Then requests
// for a guild that was just created or changed are answered even if the archive goes down.
func (c *Cache) Prefetch(ctx context.Context, g id.Guild) {
	if found, err := c.ByID(ctx, g); err == nil && found.Vanity != "" {
		_, _ = c.ByVanity(ctx, string(found.Vanity))
	}
}

// Changed invalidates a guild that was created, changed or deleted. If it was cached, it is read again at once. The guild may
// have taken a vanity that was cached as absent, so Changed drops all absences. ByVanity checks cached vanities at each use.
func (c *Cache) Changed(g id.Guild) {
	c.byID.Renew(g)
	c.byVanity.ForgetAbsences()
}

// Forget invalidates a guild without reading it again.
func (c *Cache) Forget(g id.Guild) {
	c.byID.Forget(g)
	c.byVanity.ForgetAbsences()
}

// ForgetAll drops everything.
func (c *Cache) ForgetAll() {
	c.byID.ForgetAll()
	c.byVanity.ForgetAll()
}

func asFault(err error) error {
	switch {
	case err == nil:
		return nil
	case absent(err):
		return unknown()
	default:
		return fault.Down("read guild settings", err)
	}
}

func unknown() *fault.Error {
	return fault.New(fault.NotFound, "This guild is not known here. Check the id or the vanity.")
}
