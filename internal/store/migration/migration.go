// Package migration lists which migrations an archive has, whichever archive it is. It applies none.
package migration

import (
	"context"
	"path"
	"time"

	"github.com/pressly/goose/v3"
)

// Migration is one versioned change of an archive's tables.
type Migration struct {
	Version   int64
	Name      string
	AppliedAt time.Time // zero when it is not applied yet
}

// Status lists the provider's migrations in the order of their versions.
func Status(ctx context.Context, p *goose.Provider) (list []Migration, err error) {
	all, err := p.Status(ctx)
	for _, s := range all {
		list = append(list, Migration{Version: s.Source.Version, Name: path.Base(s.Source.Path), AppliedAt: s.AppliedAt.UTC()})
	}
	return list, err
}
