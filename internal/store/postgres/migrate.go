package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"levelboard/internal/store/migration"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// migrationLock is this program's advisory lock: "levelbrd" as a number.
	migrationLock = 0x6c6576656c627264
	// lockTries is how many seconds a replica waits for another one's migrations.
	lockTries = 600
)

// Migrate applies the missing migrations, each in its own transaction. Many replicas may call it at once: one works, under an advisory
// lock, the others wait. Migrations that this program does not know are left alone, so that a rollback starts.
func (a *Archive) Migrate(ctx context.Context) error {
	return wrap("migrate", a.withProvider(func(p *goose.Provider) error {
		_, err := p.Up(ctx)
		return err
	}))
}

// MigrationStatus lists the migrations in the order of their versions. It applies none.
func (a *Archive) MigrationStatus(ctx context.Context) (list []migration.Migration, err error) {
	err = a.withProvider(func(p *goose.Provider) error {
		list, err = migration.Status(ctx, p)
		return err
	})
	return list, wrap("migration status", err)
}

// withProvider runs f on a connection without the limit on statements: a migration takes as long as it takes. Nor does a machine that
// stands still between two statements break it off.
func (a *Archive) withProvider(f func(*goose.Provider) error) (err error) {
	cfg := a.pool.Config().ConnConfig
	cfg.RuntimeParams["statement_timeout"] = "0"
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = "60000" // milliseconds
	db := stdlib.OpenDB(*cfg)
	defer func() { err = errors.Join(err, db.Close()) }()
	// It retries instead of waiting in the server, where the waiting statement would block CREATE INDEX CONCURRENTLY.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrationLock), lock.WithLockTimeout(1, lockTries))
	if err != nil {
		return err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	return f(p)
}
