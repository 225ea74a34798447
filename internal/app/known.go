package app

import (
	"context"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
)

// known is what this process has in memory of guilds and keys, by the changes that are told of them.
type known struct {
	guilds *guild.Directory
	keys   *apikey.Directory
}

func (k known) changed(c changes.Change) { about(c, k.guilds.Changed, k.keys.Changed) }

// forget is changed, for who fetches the subject afterwards: it need not be read twice.
func (k known) forget(c changes.Change) { about(c, k.guilds.Forget, k.keys.Forget) }

func (k known) prefetch(ctx context.Context, c changes.Change) {
	about(c, func(g id.Guild) { k.guilds.Prefetch(ctx, g) }, func(keyID string) { k.keys.Prefetch(ctx, keyID) })
}

func (k known) forgetAll() {
	k.guilds.ForgetAll()
	k.keys.ForgetAll()
}

// about calls what a change is for.
func about(c changes.Change, ofGuild func(id.Guild), ofKey func(string)) {
	switch c.Kind {
	case changes.Guild:
		ofGuild(id.Guild(c.Subject))
	case changes.Key:
		ofKey(c.Subject)
	}
}
