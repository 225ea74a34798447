package cli

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"levelboard/internal/platform/version"
)

func (p *program) versionCommand() *cobra.Command {
	return p.command("version", "Print the version", func(context.Context, []string) error { return p.printf("%s\n", versionLine()) })
}

// versionLine is printed by the command, and for --version.
func versionLine() string {
	name, commit := version.Build()
	if commit != "" {
		commit = "commit " + commit + ", "
	}
	return fmt.Sprintf("levelboard %s (%s%s %s/%s)", name, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
