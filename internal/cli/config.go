package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"levelboard/internal/config"
)

func (p *program) configCommand() *cobra.Command {
	group := p.group("config", "Check or print the settings of the environment")
	group.AddCommand(
		&cobra.Command{
			Use: "check", Short: "Say what is wrong with the settings; unknown names are errors", Args: takes(),
			RunE: p.action(func(context.Context, []string) error { return p.checkConfig() }),
		},
		&cobra.Command{
			Use: "print", Short: "Print the settings in force, secrets redacted", Args: takes(),
			RunE: p.withSettings(func(_ context.Context, cfg config.Config) error {
				_, err := fmt.Fprint(p.Stdout, cfg)
				return err
			}),
		},
	)
	return group
}

func (p *program) checkConfig() error {
	cfg, warnings, err := config.Load(p.Environ)
	problems := []error{err}
	unknown := config.Unknown(p.Environ)
	for _, u := range unknown {
		problems = append(problems, errors.New(u))
	}
	// Load's warnings begin with the unknown names.
	p.warn(warnings[len(unknown):])
	if err := errors.Join(problems...); err != nil {
		return err
	}
	mode := "Redis and Postgres"
	if cfg.Embedded() {
		mode = "embedded"
	}
	p.printf("The settings are good (%s).\n", mode)
	return nil
}
