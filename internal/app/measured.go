package app

import (
	"context"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// measured is an archive whose operations are counted, under the same names on Postgres and on SQLite. An operation that is
// missing here is not counted, which a test sees.
type measured struct {
	archive
	metrics *archiveMetrics
	trace   func(ctx context.Context, operation string, began time.Time, err error) // nil when tracing is off
}

func measure(a archive) *measured { return &measured{archive: a, metrics: newArchiveMetrics(a)} }

// record notes an operation that has ended.
func (m *measured) record(ctx context.Context, operation string, began time.Time, err error) {
	m.metrics.record(operation, began, err)
	if m.trace != nil {
		m.trace(ctx, operation, began, err)
	}
}

// counted runs one operation.
func counted[T any](ctx context.Context, m *measured, operation string, run func() (T, error)) (T, error) {
	began := time.Now()
	v, err := run()
	m.record(ctx, operation, began, err)
	return v, err
}

// tried runs one operation that answers nothing.
func (m *measured) tried(ctx context.Context, operation string, run func() error) error {
	began := time.Now()
	err := run()
	m.record(ctx, operation, began, err)
	return err
}

func (m *measured) Guild(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	return counted(ctx, m, "read_guild", func() (*guild.Guild, error) { return m.archive.Guild(ctx, g) })
}

func (m *measured) GuildByVanity(ctx context.Context, vanity string) (*guild.Guild, error) {
	return counted(ctx, m, "read_guild_by_vanity", func() (*guild.Guild, error) { return m.archive.GuildByVanity(ctx, vanity) })
}

func (m *measured) PutGuild(ctx context.Context, s guild.Settings) (g *guild.Guild, created bool, err error) {
	began := time.Now()
	g, created, err = m.archive.PutGuild(ctx, s)
	m.record(ctx, "put_guild", began, err)
	return g, created, err
}

func (m *measured) UpdateGuild(ctx context.Context, s guild.Settings, version int64) (*guild.Guild, error) {
	return counted(ctx, m, "update_guild", func() (*guild.Guild, error) { return m.archive.UpdateGuild(ctx, s, version) })
}

func (m *measured) Guilds(ctx context.Context, after id.Guild, limit int) ([]*guild.Guild, error) {
	return counted(ctx, m, "list_guilds", func() ([]*guild.Guild, error) { return m.archive.Guilds(ctx, after, limit) })
}

func (m *measured) DeleteGuild(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	return counted(ctx, m, "delete_guild", func() (*guild.Guild, error) { return m.archive.DeleteGuild(ctx, g) })
}

func (m *measured) Deleted(ctx context.Context, limit int) ([]leaderboard.GuildRef, error) {
	return counted(ctx, m, "list_deleted_guilds", func() ([]leaderboard.GuildRef, error) { return m.archive.Deleted(ctx, limit) })
}

func (m *measured) Purge(ctx context.Context, limit int, keep time.Duration) (int, error) {
	return counted(ctx, m, "purge", func() (int, error) { return m.archive.Purge(ctx, limit, keep) })
}

func (m *measured) Changes(ctx context.Context, after int64, limit int) ([]changes.Change, error) {
	return counted(ctx, m, "read_changes", func() ([]changes.Change, error) { return m.archive.Changes(ctx, after, limit) })
}

func (m *measured) LatestChange(ctx context.Context) (int64, error) {
	return counted(ctx, m, "read_latest_change", func() (int64, error) { return m.archive.LatestChange(ctx) })
}

func (m *measured) AcquireLease(ctx context.Context, holder string, ttl time.Duration) (snapshot.Lease, error) {
	return counted(ctx, m, "acquire_lease", func() (snapshot.Lease, error) { return m.archive.AcquireLease(ctx, holder, ttl) })
}

func (m *measured) ReleaseLease(ctx context.Context, l snapshot.Lease) error {
	return m.tried(ctx, "release_lease", func() error { return m.archive.ReleaseLease(ctx, l) })
}

func (m *measured) WriteBatch(ctx context.Context, l snapshot.Lease, b snapshot.Batch) error {
	return m.tried(ctx, "write_batch", func() error { return m.archive.WriteBatch(ctx, l, b) })
}

func (m *measured) WriteBatches(ctx context.Context, l snapshot.Lease, batches []snapshot.Batch) ([]error, error) {
	return counted(ctx, m, "write_batches", func() ([]error, error) { return m.archive.WriteBatches(ctx, l, batches) })
}

func (m *measured) State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error) {
	return counted(ctx, m, "read_state", func() (snapshot.State, error) { return m.archive.State(ctx, g) })
}

func (m *measured) States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]snapshot.State, error) {
	return counted(ctx, m, "read_states", func() (map[leaderboard.GuildRef]snapshot.State, error) {
		return m.archive.States(ctx, guilds)
	})
}

func (m *measured) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State) (snapshot.State, error) {
	return counted(ctx, m, "raise_epoch", func() (snapshot.State, error) { return m.archive.RaiseEpoch(ctx, g, from) })
}

func (m *measured) Salvage(ctx context.Context, from snapshot.State, b snapshot.Batch) error {
	return m.tried(ctx, "salvage", func() error { return m.archive.Salvage(ctx, from, b) })
}

func (m *measured) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error) {
	return counted(ctx, m, "read_members", func() ([]snapshot.Row, error) { return m.archive.Members(ctx, g, after, limit) })
}

func (m *measured) FindNames(ctx context.Context, g leaderboard.GuildRef, spans []leaderboard.NameSpan, limit int) ([]id.User, error) {
	return counted(ctx, m, "find_names", func() ([]id.User, error) { return m.archive.FindNames(ctx, g, spans, limit) })
}
