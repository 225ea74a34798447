package admin

import (
	"context"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

// CreateKey makes a key. The secret is in the answer and nowhere else, ever. The operator may make any number
// of keys for an owner.
func (a *Admin) CreateKey(ctx context.Context, n apikey.NewKey) (secret string, k apikey.Key, err error) {
	secret, keyID, hash, err := apikey.Mint()
	if err != nil {
		return "", apikey.Key{}, fault.From(err)
	}
	k = apikey.Key{
		ID: keyID, Hash: hash, Name: n.Name, OwnerID: n.OwnerID, Permission: n.Permission, GuildIDs: n.GuildIDs,
		CreatedAt: a.now().UTC().Truncate(time.Millisecond), ExpiresAt: n.ExpiresAt, RateLimit: n.RateLimit,
	}
	if err := a.archive.CreateKey(ctx, k, apikey.Operator, 0); err != nil {
		return "", apikey.Key{}, asFault("create a key", err)
	}
	a.announce.Announce(ctx, changes.Key, k.ID)
	return secret, k, nil
}

// Keys lists keys in ascending order of their ids, after the id after ("" from the start), at most limit.
func (a *Admin) Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	found, err := a.archive.Keys(ctx, after, limit)
	return found, asFault("list keys", err)
}

// Grant gives the key access to the guild.
func (a *Admin) Grant(ctx context.Context, keyID string, g id.Guild) error {
	return a.announced(ctx, "grant a guild", keyID, a.archive.Grant(ctx, keyID, g, apikey.Operator))
}

// Ungrant takes the key's access to the guild away.
func (a *Admin) Ungrant(ctx context.Context, keyID string, g id.Guild) error {
	return a.announced(ctx, "take a grant away", keyID, a.archive.Ungrant(ctx, keyID, g, apikey.Operator))
}

// Revoke removes the key for ever.
func (a *Admin) Revoke(ctx context.Context, keyID string) error {
	return a.announced(ctx, "revoke a key", keyID, a.archive.RevokeKey(ctx, keyID, apikey.Operator))
}

func (a *Admin) announced(ctx context.Context, op, keyID string, err error) error {
	if err != nil {
		return asFault(op, err)
	}
	a.announce.Announce(ctx, changes.Key, keyID)
	return nil
}
