// Package version says which version of Levelboard a program is.
package version

import "runtime/debug"

// name is set by a release build: -ldflags "-X levelboard/internal/platform/version.name=v1.2.3".
var name string

// Build returns the version's name, "devel" for a build without one, and the commit that it was built from, if known.
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
