package cli

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"levelboard/internal/platform/version"
)

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
	name, commit := version.Build()
	if commit != "" {
		commit = "commit " + commit + ", "
	}
	return fmt.Sprintf("levelboard %s (%s%s %s/%s)", name, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
