package keys

import (
	"cmp"
	"context"
	"slices"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

// Create makes a key. Only the returned secret ever shows the key's text. A user's key belongs to that user, whatever n
// says. Create returns a Conflict if the user has MaxKeys, and Forbidden for a guild that they neither own nor administer.
func (k *Keys) Create(ctx context.Context, by By, n apikey.NewKey) (secret string, made apikey.Owned, err error) {
	atMost := 0
	if owner := by.Owner(); owner != "" {
		n.OwnerID, atMost = owner, MaxKeys
	}
	if err := apikey.CheckName(n.Name); err != nil {
		return "", made, err
	}
	n.GuildIDs = slices.Compact(slices.Sorted(slices.Values(n.GuildIDs)))
	if err := by.mayGrant(n.GuildIDs...); err != nil {
		return "", made, err
	}
	keyID := cmp.Or(n.ID, apikey.NewID())
	secret, hash := apikey.Mint(keyID)
	made.Key = apikey.Key{
		ID: keyID, Hash: hash, Name: n.Name, OwnerID: n.OwnerID, Permission: n.Permission, GuildIDs: n.GuildIDs,
		CreatedAt: k.now().UTC().Truncate(time.Millisecond), ExpiresAt: n.ExpiresAt, RateLimit: n.RateLimit,
	}
	if err := k.changed(ctx, by, "create a key", keyID, k.archive.CreateKey(ctx, made.Key, by.Actor, atMost)); err != nil {
		return "", apikey.Owned{}, err
	}
	for _, g := range n.GuildIDs {
		made.Grants = append(made.Grants, apikey.Grant{GuildID: g, By: by.Actor})
	}
	return secret, made, nil
}

// Rename changes the key's name.
func (k *Keys) Rename(ctx context.Context, by By, keyID, name string) error {
	if err := apikey.CheckName(name); err != nil {
		return err
	}
	return k.changed(ctx, by, "rename a key", keyID, k.archive.RenameKey(ctx, keyID, name, by.Actor))
}

// Rotate gives the key a new secret, which only the result ever shows. Earlier secrets stay valid for the overlap at
// most. The id stays, and with it grants, limits, counts and expiry. It returns a Conflict if the key has expired.
func (k *Keys) Rotate(ctx context.Context, by By, keyID string, overlap time.Duration) (secret string, err error) {
	if !apikey.ValidID(keyID) {
		return "", by.asFault("rotate a key", apikey.ErrNotFound)
	}
	secret, hash := apikey.Mint(keyID)
	r := apikey.Rotation{Hash: hash, Now: k.now(), Overlap: overlap}
	if err := k.changed(ctx, by, "rotate a key", keyID, k.archive.RotateKey(ctx, keyID, r, by.Actor)); err != nil {
		return "", err
	}
	return secret, nil
}

// Revoke removes the key forever.
func (k *Keys) Revoke(ctx context.Context, by By, keyID string) error {
	return k.changed(ctx, by, "revoke a key", keyID, k.archive.RevokeKey(ctx, keyID, by.Actor))
}

// Grant gives the key access to the guild. It returns Forbidden for a guild that a user neither owns nor administers.
func (k *Keys) Grant(ctx context.Context, by By, keyID string, g id.Guild) error {
	if err := by.mayGrant(g); err != nil {
		return err
	}
	return k.changed(ctx, by, "grant a guild", keyID, k.archive.Grant(ctx, keyID, g, by.Actor))
}

// Ungrant removes the key's access to the guild. Owners may also remove the operator's grants.
func (k *Keys) Ungrant(ctx context.Context, by By, keyID string, g id.Guild) error {
	return k.changed(ctx, by, "take a grant away", keyID, k.archive.Ungrant(ctx, keyID, g, by.Actor))
}

// Refreshed removes the user's grants in guilds that they no longer own or administer; the operator's grants stay. Sign-in
// calls it after each refresh of the user's guilds. The list must be complete: a missing guild counts as a lost right.
func (k *Keys) Refreshed(ctx context.Context, user By) error {
	lost, err := k.archive.KeepGrants(ctx, user.Owner(), user.Guilds)
	if err != nil {
		return user.asFault("take grants away", err)
	}
	for _, keyID := range lost {
		k.announce.Announce(ctx, changes.Key, keyID)
	}
	return nil
}

// mayGrant returns a Forbidden fault for a user who does not own or administer all of the guilds.
func (by By) mayGrant(guilds ...id.Guild) error {
	for _, g := range guilds {
		if by.Actor != apikey.Operator && !slices.Contains(by.Guilds, g) {
			return fault.New(fault.Forbidden, "You may grant only guilds that you own or administer.")
		}
	}
	return nil
}
