package loadgen

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	firstOwner = 9_215_000_000_000_000_000 // of the ids that the keys' owners are drawn from
	owners     = 5_000_000_000_000_000     // how many there are
	// grantsOfKey is how many of the guilds one key is for: as many as a key can be made with.
	grantsOfKey = 1000
	// keySlack is how long a key that could not be revoked outlives the load.
	keySlack = time.Hour
)

// newOwner draws somebody who owns nothing yet: the service limits owners over all their keys, and a run must not begin with what
// is left of the one before.
func newOwner() string { return strconv.Itoa(firstOwner + rand.IntN(owners)) }

type apiKey struct{ id, secret string }

// makeKeys makes the keys of the load, which have one owner since the load is one caller, and those for what comes before and after
// it, which the load must not be able to use up.
func (b *bench) makeKeys(ctx context.Context) error {
	caller := newOwner()
	for first := 0; first < b.guilds; first += grantsOfKey {
		var guilds []string
		for guild := first; guild < min(first+grantsOfKey, b.guilds); guild++ {
			guilds = append(guilds, b.guildID(guild))
		}
		if err := b.makeKey(ctx, &b.loadKeys, caller, b.KeyLimit, guilds); err != nil {
			return err
		}
		if err := b.makeKey(ctx, &b.setupKeys, newOwner(), 0, guilds); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) makeKey(ctx context.Context, to *[]apiKey, owner string, limit int, guilds []string) error {
	var made struct{ ID, Key string }
	err := b.client.admin(ctx, http.MethodPost, "/keys", map[string]any{
		"name": guildName, "ownerId": owner, "permission": "read_write", "guildIds": guilds, "rateLimit": limit,
		"expiresAt": time.Now().Add(b.Duration + keySlack).UTC().Truncate(time.Second),
	}, &made)
	if err == nil {
		*to = append(*to, apiKey{made.ID, made.Key})
	}
	return err
}

// keyOf is the load's key for a member's guild. The first member of a guild has its number.
func (b *bench) keyOf(member int) string {
	if b.Bare {
		return "lb_00000000000000000000000000000000000000000000000000" // as long as a key
	}
	return b.loadKeys[b.guildOf(member)/grantsOfKey].secret
}
