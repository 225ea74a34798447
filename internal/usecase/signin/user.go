package signin

import (
	"slices"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// User is who signed in, as the provider told at sign-in or at the last refresh. Its strings come from a stranger.
type User struct {
	ID     id.User `json:"id"`
	Name   string  `json:"name"`             // what to call them; never empty
	Avatar string  `json:"avatar,omitempty"` // avatar hash, or empty
}

// Guild is a guild that the user is in, as the provider told.
type Guild struct {
	ID            id.Guild `json:"id"`
	Name          string   `json:"name,omitempty"` // kept only of guilds that the user manages
	Icon          string   `json:"icon,omitempty"` // icon hash, or empty; likewise
	Owner         bool     `json:"owner,omitempty"`
	Administrator bool     `json:"administrator,omitempty"`
}

// Manages reports whether the user owns the guild or is an Administrator there.
func (g Guild) Manages() bool { return g.Owner || g.Administrator }

// Session is a signed-in user, as one request sees them.
type Session struct {
	User User
	// Guilds are those that the user is in. There are none when the provider has not confirmed them for RightsTime: whom
	// it no longer vouches for manages nothing.
	Guilds []Guild
	// Unconfirmed says that Guilds is empty for that reason.
	Unconfirmed bool
}

// Manages reports whether the user manages the guild: the provider says that they own it or are an Administrator there,
// or the guild's own settings say so. The operator, or the bot that keeps the settings, answers for the latter, so they
// count without the provider.
func (s *Session) Manages(g *guild.Guild) bool {
	if s == nil {
		return false
	}
	return g.IsManager(s.User.ID) || slices.ContainsFunc(s.Guilds, func(known Guild) bool { return known.ID == g.ID && known.Manages() })
}

// MayRead reports whether the user may read the guild's board: everybody may when it is public, its members and managers
// when it is private.
func (s *Session) MayRead(g *guild.Guild) bool {
	if g.Visibility == guild.Public {
		return true
	}
	return s.Manages(g) || s != nil && slices.ContainsFunc(s.Guilds, func(known Guild) bool { return known.ID == g.ID })
}

// Managed lists the guilds that the provider says the user manages. Whether they are known here it cannot say.
func (s *Session) Managed() []Guild {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Guilds), func(g Guild) bool { return !g.Manages() })
}
