package signin

import (
	"slices"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

// User is a signed-in user, by the provider's last answer. Its strings may contain anything.
type User struct {
	ID     id.User `json:"id"`
	Name   string  `json:"name"`            // the name to show; never empty
	Avatar string  `json:"avatar,omitzero"` // avatar hash, or empty
}

// Guild is a guild that the user is in, by the provider's last answer.
type Guild struct {
	ID            id.Guild `json:"id"`
	Name          string   `json:"name,omitzero"` // stored only if the user manages the guild
	Icon          string   `json:"icon,omitzero"` // icon hash, or empty; stored like Name
	Owner         bool     `json:"owner,omitzero"`
	Administrator bool     `json:"administrator,omitzero"`
}

// manages reports whether the user owns the guild or is an Administrator there.
func (g Guild) manages() bool { return g.Owner || g.Administrator }

// Session is a signed-in user in one request.
type Session struct {
	User User
	// Guilds are the user's guilds; none if the provider has not confirmed them for RightsTime.
	Guilds []Guild
	// Unconfirmed says that Guilds is empty for this reason.
	Unconfirmed bool
}

// Manages reports whether the user manages the guild: by the provider (owner or
// Administrator), or by the guild's own settings, which count even without the provider.
func (s *Session) Manages(g *guild.Guild) bool {
	if s == nil {
		return false
	}
	return g.IsManager(s.User.ID) || slices.ContainsFunc(s.Guilds, func(known Guild) bool { return known.ID == g.ID && known.manages() })
}

// MayRead reports whether the user may read the guild's board. Every user may read a public one, members and managers a private one.
func (s *Session) MayRead(g *guild.Guild) bool {
	if g.Visibility == guild.Public {
		return true
	}
	return s.Manages(g) || s != nil && slices.ContainsFunc(s.Guilds, func(known Guild) bool { return known.ID == g.ID })
}

// Managed lists the guilds that the user manages by the provider. They may be unknown here.
func (s *Session) Managed() []Guild {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Guilds), func(g Guild) bool { return !g.manages() })
}
