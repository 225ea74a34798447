package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"levelboard/internal/config"
	"levelboard/internal/store"
	"levelboard/internal/store/migration"
	"levelboard/internal/store/postgres"
	"levelboard/internal/store/sqlite"
)

// Migrate applies the archive's migrations, as every start does.
func Migrate(ctx context.Context, cfg config.Config) error {
	if cfg.Embedded() {
		if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
			return fmt.Errorf("make the data directory: %w", err)
		}
	}
	opened, err := openArchive(ctx, cfg, nil)
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := opened.Migrate(ctx); err != nil {
		return archiveRefusal(err)
	}
	return nil
}

// MigrationStatus lists the archive's migrations by version. It applies none.
func MigrationStatus(ctx context.Context, cfg config.Config) ([]migration.Migration, error) {
	if cfg.Embedded() {
		if _, err := os.Stat(archivePath(cfg)); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("there is no archive in %s yet; levelboard serve or levelboard migrate up makes one", cfg.DataDir)
		}
	}
	opened, err := openArchive(ctx, cfg, nil)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return opened.MigrationStatus(ctx)
}

func openArchive(ctx context.Context, cfg config.Config, observe postgres.Observer) (store.Archive, error) {
	if cfg.Embedded() {
		return sqlite.Open(ctx, archivePath(cfg))
	}
	return postgres.Open(ctx, cfg.PostgresURL, cfg.PostgresURLNow, observe)
}
