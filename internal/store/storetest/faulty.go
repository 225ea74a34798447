package storetest

import (
	"context"
	"sync"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// FaultyArchive is an archive that breaks on demand, for tests of what uses one. It is safe for concurrent use.
type FaultyArchive struct {
	ArchiveStore

	mu     sync.Mutex
	before map[string]error
	after  map[string]error
	calls  map[string]int
}

// NewFaultyArchive returns an archive that does what inner does until it is told otherwise.
func NewFaultyArchive(inner ArchiveStore) *FaultyArchive {
	return &FaultyArchive{ArchiveStore: inner, before: map[string]error{}, after: map[string]error{}, calls: map[string]int{}}
}

// AllMethods stands for every method, as the name of one.
const AllMethods = "*"

// Fail makes a method return err, and do nothing, from now on: the archive cannot be reached. nil mends it.
func (f *FaultyArchive) Fail(method string, err error) { f.set(f.before, method, err) }

// FailAfter makes a method return err after it did its work: the answer was lost on its way. nil mends it.
func (f *FaultyArchive) FailAfter(method string, err error) { f.set(f.after, method, err) }

// Calls returns how often a method was called.
func (f *FaultyArchive) Calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

func (f *FaultyArchive) set(errs map[string]error, method string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	errs[method] = err
}

func (f *FaultyArchive) errors(method string) (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[method]++
	either := func(errs map[string]error) error {
		if err := errs[method]; err != nil {
			return err
		}
		return errs[AllMethods]
	}
	return either(f.before), either(f.after)
}

func faulty[T any](f *FaultyArchive, method string, call func() (T, error)) (T, error) {
	var zero T
	before, after := f.errors(method)
	if before != nil {
		return zero, before
	}
	answer, err := call()
	if err == nil && after != nil {
		return zero, after
	}
	return answer, err
}

func (f *FaultyArchive) change(method string, call func() error) error {
	_, err := faulty(f, method, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// Ping implements ArchiveStore.
func (f *FaultyArchive) Ping(ctx context.Context) error {
	return f.change("Ping", func() error { return f.ArchiveStore.Ping(ctx) })
}

// Guild implements ArchiveStore.
func (f *FaultyArchive) Guild(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	return faulty(f, "Guild", func() (*guild.Guild, error) { return f.ArchiveStore.Guild(ctx, g) })
}

// GuildByVanity implements ArchiveStore.
func (f *FaultyArchive) GuildByVanity(ctx context.Context, vanity string) (*guild.Guild, error) {
	return faulty(f, "GuildByVanity", func() (*guild.Guild, error) { return f.ArchiveStore.GuildByVanity(ctx, vanity) })
}

// Guilds implements ArchiveStore.
func (f *FaultyArchive) Guilds(ctx context.Context, after id.Guild, limit int) ([]*guild.Guild, error) {
	return faulty(f, "Guilds", func() ([]*guild.Guild, error) { return f.ArchiveStore.Guilds(ctx, after, limit) })
}

// PutGuild implements ArchiveStore.
func (f *FaultyArchive) PutGuild(ctx context.Context, s guild.Settings) (g *guild.Guild, created bool, err error) {
	g, err = faulty(f, "PutGuild", func() (*guild.Guild, error) {
		put, made, err := f.ArchiveStore.PutGuild(ctx, s)
		created = made
		return put, err
	})
	return g, created && err == nil, err
}

// UpdateGuild implements ArchiveStore.
func (f *FaultyArchive) UpdateGuild(ctx context.Context, s guild.Settings, version int64) (*guild.Guild, error) {
	return faulty(f, "UpdateGuild", func() (*guild.Guild, error) { return f.ArchiveStore.UpdateGuild(ctx, s, version) })
}

// DeleteGuild implements ArchiveStore.
func (f *FaultyArchive) DeleteGuild(ctx context.Context, g id.Guild) (*guild.Guild, error) {
	return faulty(f, "DeleteGuild", func() (*guild.Guild, error) { return f.ArchiveStore.DeleteGuild(ctx, g) })
}

// Key implements ArchiveStore.
func (f *FaultyArchive) Key(ctx context.Context, keyID string) (*apikey.Key, error) {
	return faulty(f, "Key", func() (*apikey.Key, error) { return f.ArchiveStore.Key(ctx, keyID) })
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

// AddUse implements ArchiveStore.
func (f *FaultyArchive) AddUse(ctx context.Context, u apikey.UseFlush) error {
	return f.change("AddUse", func() error { return f.ArchiveStore.AddUse(ctx, u) })
}

// Changes implements ArchiveStore.
func (f *FaultyArchive) Changes(ctx context.Context, after int64, limit int) ([]changes.Change, error) {
	return faulty(f, "Changes", func() ([]changes.Change, error) { return f.ArchiveStore.Changes(ctx, after, limit) })
}

// LatestChange implements ArchiveStore.
func (f *FaultyArchive) LatestChange(ctx context.Context) (int64, error) {
	return faulty(f, "LatestChange", func() (int64, error) { return f.ArchiveStore.LatestChange(ctx) })
}

// AcquireLease implements ArchiveStore.
func (f *FaultyArchive) AcquireLease(ctx context.Context, holder string, ttl time.Duration) (snapshot.Lease, error) {
	return faulty(f, "AcquireLease", func() (snapshot.Lease, error) { return f.ArchiveStore.AcquireLease(ctx, holder, ttl) })
}

// ReleaseLease implements ArchiveStore.
func (f *FaultyArchive) ReleaseLease(ctx context.Context, l snapshot.Lease) error {
	return f.change("ReleaseLease", func() error { return f.ArchiveStore.ReleaseLease(ctx, l) })
}

// WriteBatch implements ArchiveStore.
func (f *FaultyArchive) WriteBatch(ctx context.Context, l snapshot.Lease, b snapshot.Batch) error {
	return f.change("WriteBatch", func() error { return f.ArchiveStore.WriteBatch(ctx, l, b) })
}

// WriteBatches implements ArchiveStore.
func (f *FaultyArchive) WriteBatches(ctx context.Context, l snapshot.Lease, batches []snapshot.Batch) ([]error, error) {
	return faulty(f, "WriteBatches", func() ([]error, error) { return f.ArchiveStore.WriteBatches(ctx, l, batches) })
}

// State implements ArchiveStore.
func (f *FaultyArchive) State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error) {
	return faulty(f, "State", func() (snapshot.State, error) { return f.ArchiveStore.State(ctx, g) })
}

// States implements ArchiveStore.
func (f *FaultyArchive) States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]snapshot.State, error) {
	return faulty(f, "States", func() (map[leaderboard.GuildRef]snapshot.State, error) { return f.ArchiveStore.States(ctx, guilds) })
}

// RaiseEpoch implements ArchiveStore.
func (f *FaultyArchive) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State) (snapshot.State, error) {
	return faulty(f, "RaiseEpoch", func() (snapshot.State, error) { return f.ArchiveStore.RaiseEpoch(ctx, g, from) })
}

// Salvage implements ArchiveStore.
func (f *FaultyArchive) Salvage(ctx context.Context, from snapshot.State, b snapshot.Batch) error {
	return f.change("Salvage", func() error { return f.ArchiveStore.Salvage(ctx, from, b) })
}

// Members implements ArchiveStore.
func (f *FaultyArchive) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error) {
	return faulty(f, "Members", func() ([]snapshot.Row, error) { return f.ArchiveStore.Members(ctx, g, after, limit) })
}

// Deleted implements ArchiveStore.
func (f *FaultyArchive) Deleted(ctx context.Context, limit int) ([]leaderboard.GuildRef, error) {
	return faulty(f, "Deleted", func() ([]leaderboard.GuildRef, error) { return f.ArchiveStore.Deleted(ctx, limit) })
}

// Purge implements ArchiveStore.
func (f *FaultyArchive) Purge(ctx context.Context, limit int, keep time.Duration) (int, error) {
	return faulty(f, "Purge", func() (int, error) { return f.ArchiveStore.Purge(ctx, limit, keep) })
}

// FindNames implements ArchiveStore.
func (f *FaultyArchive) FindNames(ctx context.Context, g leaderboard.GuildRef, spans []leaderboard.NameSpan, limit int) ([]id.User, error) {
	return faulty(f, "FindNames", func() ([]id.User, error) { return f.ArchiveStore.FindNames(ctx, g, spans, limit) })
}
