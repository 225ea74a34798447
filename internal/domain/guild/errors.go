package guild

import "errors"

// Errors of the archives that hold guilds.
var (
	// ErrNotFound says that there is no such guild.
	ErrNotFound = errors.New("guild does not exist")
	// ErrVanityTaken says that another guild has the vanity, and that nothing was changed.
	ErrVanityTaken = errors.New("vanity belongs to another guild")
	// ErrChanged says that the settings were changed since they were read, and that nothing was changed now.
	ErrChanged = errors.New("settings were changed since they were read")
)
