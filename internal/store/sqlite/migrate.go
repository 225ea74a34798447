package sqlite

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"

	"levelboard/internal/store/migration"
)

//go:embed migrations/*.sql
var migrations embed.FS

// lockRetry is how often a process looks whether another one is done with the migrations.
const lockRetry = 50 * time.Millisecond

// Migrate applies the missing migrations, each in its own transaction. Many processes may call it at once: one works, under a lock on a file
// beside the archive, the others wait. Migrations that this program does not know are left alone, so that a rollback starts.
func (a *Archive) Migrate(ctx context.Context) (err error) {
	lock := flock.New(a.path+".migrate", flock.SetPermissions(fileMode))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return wrap("migrate: wait for another process", err)
	}
	defer func() { err = errors.Join(err, wrap("migrate", lock.Close())) }()
	p, err := a.provider()
	if err != nil {
		return wrap("migrate", err)
	}
	_, err = p.Up(ctx)
	return wrap("migrate", err)
}

// MigrationStatus lists the migrations in the order of their versions. It applies none.
func (a *Archive) MigrationStatus(ctx context.Context) ([]migration.Migration, error) {
	p, err := a.provider()
	if err != nil {
		return nil, wrap("migration status", err)
	}
	list, err := migration.Status(ctx, p)
	return list, wrap("migration status", err)
}

func (a *Archive) provider() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, a.Writer, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}
