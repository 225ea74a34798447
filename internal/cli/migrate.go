package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"levelboard/internal/app"
	"levelboard/internal/config"
)

func (p *program) migrateCommand() *cobra.Command {
	group := p.group("migrate", "Bring the archive's tables up to date, or show how they stand")
	group.AddCommand(
		&cobra.Command{
			Use: "up", Short: "Apply the migrations that are missing (serve does it too)", Args: takes(),
			RunE: p.withSettings(p.migrateUp),
		},
		&cobra.Command{
			Use: "status", Short: "List the migrations", Args: takes(),
			RunE: p.withSettings(p.migrateStatus),
		},
	)
	return group
}

func (p *program) migrateUp(ctx context.Context, cfg config.Config) error {
	if err := app.Migrate(ctx, cfg); err != nil {
		return err
	}
	p.printf("The archive is up to date.\n")
	return nil
}

func (p *program) migrateStatus(ctx context.Context, cfg config.Config) error {
	migrations, err := app.MigrationStatus(ctx, cfg)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, m := range migrations {
		applied := "not applied yet"
		if !m.AppliedAt.IsZero() {
			applied = m.AppliedAt.UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{strconv.FormatInt(m.Version, 10), m.Name, applied})
	}
	return writeTable(p.Stdout, []string{"VERSION", "NAME", "APPLIED"}, rows)
}
