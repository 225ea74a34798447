package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// migrationLock is this program's advisory lock: "levelbrd" as a number.
	migrationLock = 0x6c6576656c627264
	// lockTries is how many seconds a replica waits for another one's migrations.
	lockTries = 600
)

// Migration is one versioned change of the tables.
type Migration struct {
	Version   int64
	Name      string
	AppliedAt time.Time // zero when it is not applied yet
}

// Migrate applies the migrations that are missing, each in its own transaction. Many replicas may call it at the same
// time: one of them works, under a session's advisory lock, and the others wait. Migrations that the database has and
// this program does not know are left alone, so that a rollback to an older version starts.
func (a *Archive) Migrate(ctx context.Context) error {
	return wrap("migrate", a.withProvider(func(p *goose.Provider, _ *sql.DB) error {
		_, err := p.Up(ctx)
		return err
	}))
}

// MigrationStatus lists the migrations in the order of their versions, also those that only the database knows. It
// changes nothing.
func (a *Archive) MigrationStatus(ctx context.Context) (list []Migration, err error) {
	err = a.withProvider(func(p *goose.Provider, db *sql.DB) error {
		applied, err := appliedMigrations(ctx, db)
		if err != nil {
			return err
		}
		for _, s := range p.ListSources() {
			list = append(list, Migration{Version: s.Version, Name: path.Base(s.Path), AppliedAt: applied[s.Version]})
			delete(applied, s.Version)
		}
		for version, at := range applied {
			list = append(list, Migration{Version: version, Name: "(of a newer levelboard)", AppliedAt: at})
		}
		slices.SortFunc(list, func(x, y Migration) int { return int(x.Version - y.Version) })
		return nil
	})
	return list, wrap("migration status", err)
}

// withProvider runs f on a connection without the limit on statements: a migration takes as long as it takes.
func (a *Archive) withProvider(f func(*goose.Provider, *sql.DB) error) (err error) {
	cfg := a.pool.Config().ConnConfig
	cfg.RuntimeParams["statement_timeout"] = "0"
	db := stdlib.OpenDB(*cfg)
	defer func() { err = errors.Join(err, db.Close()) }()
	// Tries again and again instead of waiting in the server, where the waiting statement would block CREATE INDEX CONCURRENTLY.
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
	return f(p, db)
}

func appliedMigrations(ctx context.Context, db *sql.DB) (map[int64]time.Time, error) {
	var exists bool
	if err := db.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, goose.DefaultTablename).Scan(&exists); err != nil {
		return nil, fmt.Errorf("look for %s: %w", goose.DefaultTablename, err)
	}
	applied := map[int64]time.Time{}
	if !exists {
		return applied, nil
	}
	rows, err := db.QueryContext(ctx,
		`SELECT version_id, tstamp FROM `+goose.DefaultTablename+` WHERE version_id > 0 AND is_applied`)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", goose.DefaultTablename, err)
	}
	defer rows.Close()
	for rows.Next() {
		var version int64
		var at time.Time
		if err := rows.Scan(&version, &at); err != nil {
			return nil, fmt.Errorf("read %s: %w", goose.DefaultTablename, err)
		}
		applied[version] = at.UTC()
	}
	return applied, rows.Err()
}
