package cli

import (
	"context"

	"github.com/spf13/cobra"

	"levelboard/internal/config"
	"levelboard/internal/platform/health"
)

func (p *program) healthcheckCommand() *cobra.Command {
	const short = "Exit with 0 when the service on this machine is ready (for container health checks)"
	return p.command("healthcheck", short, func(ctx context.Context, _ []string) error {
		settings, _ := config.LoadClient(p.Environ) // a malformed URL or token does not matter here
		if err := health.Check(ctx, settings.OpsListen); err != nil {
			return err
		}
		return p.printf("ready\n")
	})
}
