package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"levelboard/internal/app"
	"levelboard/internal/config"
)

func (p *program) migrateCommand() *cobra.Command {
	return p.group("migrate", "Bring the archive's tables up to date, or show how they stand",
		p.command("up", "Apply the migrations that are missing (serve does it too)", p.withSettings(func(ctx context.Context, cfg config.Config) error {
			if err := app.Migrate(ctx, cfg); err != nil {
				return err
			}
			return p.printf("The archive is up to date.\n")
		})),
		p.command("status", "List the migrations", p.withSettings(p.migrateStatus)),
	)
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
			applied = at(m.AppliedAt)
		}
		rows = append(rows, []string{strconv.FormatInt(m.Version, 10), m.Name, applied})
	}
	return p.table([]string{"VERSION", "NAME", "APPLIED"}, rows)
}
