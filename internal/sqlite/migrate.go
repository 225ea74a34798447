package sqlite

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

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// lockRetry is how often a process looks whether another one is done with the migrations.
const lockRetry = 50 * time.Millisecond

// Migration is one versioned change of the tables.
type Migration struct {
	Version   int64
	Name      string
	AppliedAt time.Time // zero when it is not applied yet
}

// Migrate applies the migrations that are missing, each in its own transaction. Many may call it at the same time, in
// other processes too: one works, under a lock on a file beside the archive, and the others wait. Migrations that the
// archive has and this program does not know are left alone, so that a rollback to an older version starts.
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

// MigrationStatus lists the migrations in the order of their versions, also those that only the archive knows. It
// changes nothing.
func (a *Archive) MigrationStatus(ctx context.Context) ([]Migration, error) {
	p, err := a.provider()
	if err != nil {
		return nil, wrap("migration status", err)
	}
	applied, err := a.appliedMigrations(ctx)
	if err != nil {
		return nil, wrap("migration status", err)
	}
	var list []Migration
	for _, s := range p.ListSources() {
		list = append(list, Migration{Version: s.Version, Name: path.Base(s.Path), AppliedAt: applied[s.Version]})
		delete(applied, s.Version)
	}
	for version, at := range applied {
		list = append(list, Migration{Version: version, Name: "(of a newer levelboard)", AppliedAt: at})
	}
	slices.SortFunc(list, func(x, y Migration) int { return int(x.Version - y.Version) })
	return list, nil
}

func (a *Archive) provider() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, a.writer, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

func (a *Archive) appliedMigrations(ctx context.Context) (map[int64]time.Time, error) {
	applied := map[int64]time.Time{}
	var tables int
	err := a.reader.QueryRowContext(ctx,
		`SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?`, goose.DefaultTablename).Scan(&tables)
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", goose.DefaultTablename, err)
	}
	if tables == 0 {
		return applied, nil
	}
	rows, err := a.reader.QueryContext(ctx,
		`SELECT version_id, tstamp FROM `+goose.DefaultTablename+` WHERE version_id > 0 AND is_applied`)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", goose.DefaultTablename, err)
	}
	_, err = collect(rows, func(row scanner) (struct{}, error) {
		var version int64
		var at sql.NullTime
		err := row.Scan(&version, &at)
		applied[version] = at.Time.UTC()
		return struct{}{}, err
	})
	return applied, err
}
