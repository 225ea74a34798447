// Package version knows which version of Levelboard a program is.
package version

import "runtime/debug"

// name is set when a release is built: -ldflags "-X levelboard/internal/platform/version.name=v1.2.3".
var name string

// Build returns the version's name, "devel" when the build has none, and the commit it was built from, if known.
func Build() (version, commit string) {
	version = name
	if info, ok := debug.ReadBuildInfo(); ok {
		if version == "" && info.Main.Version != "" && info.Main.Version != "(devel)" {
			version = info.Main.Version
		}
		commit = commitOf(info.Settings)
	}
	if version == "" {
		version = "devel"
	}
	return version, commit
}

func commitOf(settings []debug.BuildSetting) string {
	var revision, changed string
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + changed
}
