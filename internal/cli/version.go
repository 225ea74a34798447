package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set when a release is built: -ldflags "-X levelboard/internal/cli.version=v1.2.3".
var version string

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  takes(),
		RunE: p.action(func(context.Context, []string) error {
			_, err := fmt.Fprintln(p.Stdout, versionLine())
			return err
		}),
	}
}

// versionLine is what the command says, and --version too.
func versionLine() string {
	name, commit := buildVersion()
	if commit != "" {
		commit = "commit " + commit + ", "
	}
	return fmt.Sprintf("levelboard %s (%s%s %s/%s)", name, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildVersion returns the version's name, "devel" when the build has none, and the commit it was built from, if known.
func buildVersion() (name, commit string) {
	name = version
	if info, ok := debug.ReadBuildInfo(); ok {
		if name == "" && info.Main.Version != "" && info.Main.Version != "(devel)" {
			name = info.Main.Version
		}
		commit = commitOf(info.Settings)
	}
	if name == "" {
		name = "devel"
	}
	return name, commit
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
