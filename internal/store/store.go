// Package store says what the service needs of its archive, which Postgres and SQLite are.
package store

import (
	"context"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store/migration"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/guilds"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/keys"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

// Archive is all that an archive is used for. It is safe for concurrent use.
type Archive interface {
	guilds.Archive
	keys.Archive
	snapshot.Archive
	hydrate.Archive
	guild.Source
	apikey.Source
	apikey.UseStore
	changes.Log
	leaderboard.Names
	periods.Archive
	checkpoints.Archive
	audit.Archive
	erasure.Archive
	hiding.Archive
	announce.Archive

	// Migrate brings the tables to what this program needs. Any number of processes may call it at once.
	Migrate(ctx context.Context) error
	MigrationStatus(ctx context.Context) ([]migration.Migration, error)
	Ping(ctx context.Context) error
	// Connections says how many are open.
	Connections() (inUse, idle int)
	Close()
}
