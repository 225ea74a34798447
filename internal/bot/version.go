package bot

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// version is set when a release is built: -ldflags "-X levelboard/internal/bot.version=v1.2.3".
var version string

// Version is the version's name, or devel.
func Version() string {
	name := version
	if info, ok := debug.ReadBuildInfo(); ok && name == "" {
		name = strings.TrimSuffix(info.Main.Version, "(devel)")
	}
	return cmp.Or(name, "devel")
}
