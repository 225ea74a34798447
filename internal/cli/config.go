package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"levelboard/internal/config"
)

func (p *program) configCommand() *cobra.Command {
	return p.group("config", "Check or print the settings of the environment",
		p.command("check", "Say what is wrong with the settings; unknown names are errors", p.checkConfig),
		p.command("print", "Print the settings in force, secrets redacted", p.withSettings(func(_ context.Context, cfg config.Config) error {
			return p.printf("%s", cfg)
		})),
	)
}

func (p *program) checkConfig(context.Context, []string) error {
	cfg, unknown, err := config.Load(p.Environ)
	problems := []error{err}
	for _, u := range unknown {
		problems = append(problems, errors.New(u))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	mode := "Redis and Postgres"
	if cfg.Embedded() {
		mode = "embedded"
	}
	return p.printf("The settings are good (%s).\n", mode)
}
