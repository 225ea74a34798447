package storetest

import (
	"cmp"
	"context"
	"sync"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// FaultyArchive is an archive whose methods for the use cases of operators and users break on demand. It is safe for concurrent use.
type FaultyArchive struct {
	ArchiveStore

	mu    sync.Mutex
	fails map[string]error
	calls map[string]int
}

// NewFaultyArchive returns an archive that does what inner does until Fail.
func NewFaultyArchive(inner ArchiveStore) *FaultyArchive {
	return &FaultyArchive{ArchiveStore: inner, fails: map[string]error{}, calls: map[string]int{}}
}

// AllMethods stands for every method, as the name of one.
const AllMethods = "*"

// Fail makes a method return err, and do nothing, from now on. nil mends it.
func (f *FaultyArchive) Fail(method string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails[method] = err
}

// Calls returns how often a method was called.
func (f *FaultyArchive) Calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

func (f *FaultyArchive) called(method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[method]++
	return cmp.Or(f.fails[method], f.fails[AllMethods])
}

func faulty[T any](f *FaultyArchive, method string, call func() (T, error)) (T, error) {
	if err := f.called(method); err != nil {
		var zero T
		return zero, err
	}
	return call()
}

func (f *FaultyArchive) change(method string, call func() error) error {
	if err := f.called(method); err != nil {
		return err
	}
	return call()
}

// Guild implements ArchiveStore.
func (f *FaultyArchive) Guild(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	return faulty(f, "Guild", func() (*guild.Guild, error) { return f.ArchiveStore.Guild(ctx, g) })
}

// GuildByVanity implements ArchiveStore.
func (f *FaultyArchive) GuildByVanity(ctx context.Context, vanity string) (*guild.Guild, error) {
	return faulty(f, "GuildByVanity", func() (*guild.Guild, error) { return f.ArchiveStore.GuildByVanity(ctx, vanity) })
}

// ManagedBy implements ArchiveStore.
func (f *FaultyArchive) ManagedBy(ctx context.Context, user id.User, limit int) ([]*guild.Guild, error) {
	return faulty(f, "ManagedBy", func() ([]*guild.Guild, error) { return f.ArchiveStore.ManagedBy(ctx, user, limit) })
}

// Guilds implements ArchiveStore.
func (f *FaultyArchive) Guilds(ctx context.Context, after id.Guild, limit int) ([]*guild.Guild, error) {
	return faulty(f, "Guilds", func() ([]*guild.Guild, error) { return f.ArchiveStore.Guilds(ctx, after, limit) })
}

// PutGuild implements ArchiveStore.
func (f *FaultyArchive) PutGuild(ctx context.Context, s guild.Settings) (*guild.Guild, bool, error) {
	if err := f.called("PutGuild"); err != nil {
		return nil, false, err
	}
	return f.ArchiveStore.PutGuild(ctx, s)
}

// UpdateGuild implements ArchiveStore.
func (f *FaultyArchive) UpdateGuild(ctx context.Context, s guild.Settings, edited int64) (*guild.Guild, error) {
	return faulty(f, "UpdateGuild", func() (*guild.Guild, error) { return f.ArchiveStore.UpdateGuild(ctx, s, edited) })
}

// Describe implements ArchiveStore.
func (f *FaultyArchive) Describe(ctx context.Context, g id.Guild, given guild.Description) (shown bool, err error) {
	return faulty(f, "Describe", func() (bool, error) { return f.ArchiveStore.Describe(ctx, g, given) })
}

// Directory implements ArchiveStore.
func (f *FaultyArchive) Directory(ctx context.Context, g id.Guild) (guild.Directory, error) {
	return faulty(f, "Directory", func() (guild.Directory, error) { return f.ArchiveStore.Directory(ctx, g) })
}

// DeleteGuild implements ArchiveStore.
func (f *FaultyArchive) DeleteGuild(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	return faulty(f, "DeleteGuild", func() (*guild.Guild, error) { return f.ArchiveStore.DeleteGuild(ctx, g) })
}

// Keys implements ArchiveStore.
func (f *FaultyArchive) Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	return faulty(f, "Keys", func() ([]*apikey.Key, error) { return f.ArchiveStore.Keys(ctx, after, limit) })
}

// CreateKey implements ArchiveStore.
func (f *FaultyArchive) CreateKey(ctx context.Context, k apikey.Key, by apikey.Actor, atMost int) error {
	return f.change("CreateKey", func() error { return f.ArchiveStore.CreateKey(ctx, k, by, atMost) })
}

// Grant implements ArchiveStore.
func (f *FaultyArchive) Grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return f.change("Grant", func() error { return f.ArchiveStore.Grant(ctx, keyID, g, by) })
}

// Ungrant implements ArchiveStore.
func (f *FaultyArchive) Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return f.change("Ungrant", func() error { return f.ArchiveStore.Ungrant(ctx, keyID, g, by) })
}

// RevokeKey implements ArchiveStore.
func (f *FaultyArchive) RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error {
	return f.change("RevokeKey", func() error { return f.ArchiveStore.RevokeKey(ctx, keyID, by) })
}

// RenameKey implements ArchiveStore.
func (f *FaultyArchive) RenameKey(ctx context.Context, keyID, name string, by apikey.Actor) error {
	return f.change("RenameKey", func() error { return f.ArchiveStore.RenameKey(ctx, keyID, name, by) })
}

// RotateKey implements ArchiveStore.
func (f *FaultyArchive) RotateKey(ctx context.Context, keyID string, r apikey.Rotation, by apikey.Actor) error {
	return f.change("RotateKey", func() error { return f.ArchiveStore.RotateKey(ctx, keyID, r, by) })
}

// KeepGrants implements ArchiveStore.
func (f *FaultyArchive) KeepGrants(ctx context.Context, owner id.User, guilds []id.Guild) ([]string, error) {
	return faulty(f, "KeepGrants", func() ([]string, error) { return f.ArchiveStore.KeepGrants(ctx, owner, guilds) })
}

// OwnedKeys implements ArchiveStore.
func (f *FaultyArchive) OwnedKeys(ctx context.Context, owner id.User, hour int64, limit int) ([]apikey.Owned, error) {
	return faulty(f, "OwnedKeys", func() ([]apikey.Owned, error) { return f.ArchiveStore.OwnedKeys(ctx, owner, hour, limit) })
}

// KeyHistory implements ArchiveStore.
func (f *FaultyArchive) KeyHistory(ctx context.Context, owner id.User, before int64, limit int) ([]apikey.Record, error) {
	return faulty(f, "KeyHistory", func() ([]apikey.Record, error) { return f.ArchiveStore.KeyHistory(ctx, owner, before, limit) })
}

// Deleted implements ArchiveStore.
func (f *FaultyArchive) Deleted(ctx context.Context, limit int) ([]leaderboard.GuildRef, error) {
	return faulty(f, "Deleted", func() ([]leaderboard.GuildRef, error) { return f.ArchiveStore.Deleted(ctx, limit) })
}

// Purge implements ArchiveStore.
func (f *FaultyArchive) Purge(ctx context.Context, limit int, keep snapshot.Keep) (int, error) {
	return faulty(f, "Purge", func() (int, error) { return f.ArchiveStore.Purge(ctx, limit, keep) })
}
