package ownkeys

import (
	"context"
	"slices"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

// Key is a key as its owner sees it. Nothing in it is secret.
type Key struct {
	ID         string
	Shown      string // how the key's text begins
	Name       string
	Permission apikey.Permission
	Grants     []apikey.Grant // ascending by guild
	CreatedAt  time.Time
	ExpiresAt  *time.Time // nil: never
	Expired    bool
	// OldUntil is when the last secret from before a rotation stops; nil: there is none that works.
	OldUntil *time.Time
	// LastUsed and Requests, of the last day by the hour, come from the archive: up to a minute late.
	LastUsed *time.Time // nil: never
	Requests int64
}

// Keys lists the user's keys, the newest first, those included that the operator made for them.
func (p *Profile) Keys(ctx context.Context, user id.User) ([]Key, error) {
	now := p.now()
	owned, err := p.archive.OwnedKeys(ctx, user, apikey.HourOf(now), maxListed)
	if err != nil {
		return nil, asFault("list a user's keys", err)
	}
	list := make([]Key, len(owned))
	for i := range owned {
		list[i] = shown(&owned[i], now)
	}
	return list, nil
}

func shown(o *apikey.Owned, now time.Time) Key {
	k := Key{
		ID: o.ID, Shown: apikey.Shown(o.ID), Name: o.Name, Permission: o.Permission, Grants: o.Grants,
		CreatedAt: o.CreatedAt, ExpiresAt: o.ExpiresAt, Expired: o.Expired(now), LastUsed: o.LastUsed, Requests: o.Requests,
	}
	for _, old := range o.Old {
		if now.Before(old.Until) && (k.OldUntil == nil || old.Until.After(*k.OldUntil)) {
			k.OldUntil = &old.Until
		}
	}
	return k
}

// NewKey is what a user decides about a key when they make it.
type NewKey struct {
	Name       string // as apikey.CheckName has it
	Permission apikey.Permission
	Lifetime   Lifetime
	Guilds     []id.Guild // only ones that the user owns or administers; may be empty
}

// Create makes a key. The secret is in the answer and nowhere else, ever. Conflict when the user has MaxKeys; Forbidden for
// a guild that they neither own nor administer.
func (p *Profile) Create(ctx context.Context, user User, n NewKey) (secret string, k Key, err error) {
	if err := apikey.CheckName(n.Name); err != nil {
		return "", Key{}, err
	}
	if _, err := apikey.ParsePermission(string(n.Permission)); err != nil {
		return "", Key{}, fault.New(fault.Invalid, "permission %v", err)
	}
	guilds := slices.Compact(slices.Sorted(slices.Values(n.Guilds)))
	if err := user.mayGrant(guilds...); err != nil {
		return "", Key{}, err
	}
	now := p.now()
	expires, err := n.Lifetime.from(now)
	if err != nil {
		return "", Key{}, err
	}
	secret, keyID, hash, err := apikey.Mint()
	if err != nil {
		return "", Key{}, fault.From(err)
	}
	made := apikey.Owned{Key: apikey.Key{
		ID: keyID, Hash: hash, Name: n.Name, OwnerID: user.ID, Permission: n.Permission, GuildIDs: guilds,
		CreatedAt: now.UTC().Truncate(time.Millisecond), ExpiresAt: expires,
	}}
	if err := p.archive.CreateKey(ctx, made.Key, apikey.User(user.ID), MaxKeys); err != nil {
		return "", Key{}, asFault("create a key", err)
	}
	p.announce.Announce(ctx, changes.Key, keyID)
	for _, g := range guilds {
		made.Grants = append(made.Grants, apikey.Grant{GuildID: g, By: apikey.User(user.ID)})
	}
	return secret, shown(&made, now), nil
}

// Rename gives the key another name.
func (p *Profile) Rename(ctx context.Context, user id.User, keyID, name string) error {
	if err := apikey.CheckName(name); err != nil {
		return err
	}
	return p.changed(ctx, "rename a key", keyID, p.archive.RenameKey(ctx, keyID, name, apikey.User(user)))
}

// Rotate gives the key another secret, which is in the answer and nowhere else. Earlier secrets stay valid for the overlap
// and no longer; the id, and with it the grants, limits, counts and the expiry, stay. Conflict when the key has expired.
func (p *Profile) Rotate(ctx context.Context, user id.User, keyID string, overlap Overlap) (secret string, err error) {
	if !overlap.valid() {
		return "", errOverlap()
	}
	if !apikey.ValidID(keyID) {
		return "", asFault("rotate a key", apikey.ErrNotFound)
	}
	secret, hash, err := apikey.Remint(keyID)
	if err != nil {
		return "", fault.From(err)
	}
	r := apikey.Rotation{Hash: hash, Now: p.now(), Overlap: time.Duration(overlap)}
	if err := p.changed(ctx, "rotate a key", keyID, p.archive.RotateKey(ctx, keyID, r, apikey.User(user))); err != nil {
		return "", err
	}
	return secret, nil
}

// Delete removes the key for ever.
func (p *Profile) Delete(ctx context.Context, user id.User, keyID string) error {
	return p.changed(ctx, "delete a key", keyID, p.archive.RevokeKey(ctx, keyID, apikey.User(user)))
}

// maxHistory is how many records one call of History returns at most.
const maxHistory = 100

// History lists what was done to the user's keys and by whom, the newest first, with numbers below before (0: from the
// newest), at most limit, which is 1 to 100.
func (p *Profile) History(ctx context.Context, user id.User, before int64, limit int) ([]apikey.Record, error) {
	if before < 0 || limit < 1 || limit > maxHistory {
		return nil, fault.New(fault.Invalid, "a piece of the history is 1 to %d records", maxHistory)
	}
	found, err := p.archive.KeyHistory(ctx, user, before, limit)
	return found, asFault("read the history of keys", err)
}

// Grant gives the key access to the guild; Forbidden for a guild that the user neither owns nor administers.
func (p *Profile) Grant(ctx context.Context, user User, keyID string, g id.Guild) error {
	if err := user.mayGrant(g); err != nil {
		return err
	}
	return p.changed(ctx, "grant a guild", keyID, p.archive.Grant(ctx, keyID, g, apikey.User(user.ID)))
}

// Ungrant takes the key's access to the guild away. Owners may do that with the operator's grants too.
func (p *Profile) Ungrant(ctx context.Context, user id.User, keyID string, g id.Guild) error {
	return p.changed(ctx, "take a grant away", keyID, p.archive.Ungrant(ctx, keyID, g, apikey.User(user)))
}

// Refreshed takes away what the user granted their keys in guilds that they neither own nor administer any more; what the
// operator granted stays. Sign-in calls it after each refresh of the user's guilds, with all of them as the provider has
// just said. It must not be called when the provider did not answer, or not in full: a missing guild is a lost right.
func (p *Profile) Refreshed(ctx context.Context, user User) error {
	lost, err := p.archive.KeepGrants(ctx, user.ID, user.Guilds)
	if err != nil {
		return asFault("take grants away", err)
	}
	for _, keyID := range lost {
		p.announce.Announce(ctx, changes.Key, keyID)
	}
	return nil
}

// mayGrant is a Forbidden fault unless the user owns or administers all of the guilds.
func (u User) mayGrant(guilds ...id.Guild) error {
	for _, g := range guilds {
		if !slices.Contains(u.Guilds, g) {
			return fault.New(fault.Forbidden, "You may grant only guilds that you own or administer.")
		}
	}
	return nil
}
