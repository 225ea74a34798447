// Package migration lists which migrations an archive has, whichever archive it is. It applies none.
package migration

import (
	"context"
	"database/sql"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/pressly/goose/v3"
)

// Table is where an archive notes its migrations.
const Table = goose.DefaultTablename

// Migration is one versioned change of an archive's tables.
type Migration struct {
	Version   int64
	Name      string
	AppliedAt time.Time // zero when it is not applied yet
}

// Status lists the provider's migrations in the order of their versions, and those that only the archive behind db knows. tableExists
// is the query that tells whether there is a Table, which Status does not make: it changes nothing.
func Status(ctx context.Context, p *goose.Provider, db *sql.DB, tableExists string) (list []Migration, err error) {
	applied, err := appliedAt(ctx, db, tableExists)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", Table, err)
	}
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

func appliedAt(ctx context.Context, db *sql.DB, tableExists string) (map[int64]time.Time, error) {
	var exists bool
	if err := db.QueryRowContext(ctx, tableExists).Scan(&exists); err != nil || !exists {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT version_id, tstamp FROM `+Table+` WHERE version_id > 0 AND is_applied`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	applied := map[int64]time.Time{}
	for rows.Next() {
		var version int64
		var at time.Time
		if err := rows.Scan(&version, &at); err != nil {
			return nil, err
		}
		applied[version] = at.UTC()
	}
	return applied, rows.Err()
}
