package ownkeys

import (
	"context"
	"slices"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

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
