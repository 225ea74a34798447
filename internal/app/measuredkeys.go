package app

import (
	"context"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
)

func (m *measured) Key(ctx context.Context, keyID string) (*apikey.Key, error) {
	return counted(ctx, m, "read_key", func() (*apikey.Key, error) { return m.archive.Key(ctx, keyID) })
}

func (m *measured) Keys(ctx context.Context, after string, limit int) ([]*apikey.Key, error) {
	return counted(ctx, m, "list_keys", func() ([]*apikey.Key, error) { return m.archive.Keys(ctx, after, limit) })
}

func (m *measured) OwnedKeys(ctx context.Context, owner id.User, hour int64, limit int) ([]apikey.Owned, error) {
	return counted(ctx, m, "list_owned_keys", func() ([]apikey.Owned, error) { return m.archive.OwnedKeys(ctx, owner, hour, limit) })
}

func (m *measured) KeyHistory(ctx context.Context, owner id.User, before int64, limit int) ([]apikey.Record, error) {
	return counted(ctx, m, "read_key_history", func() ([]apikey.Record, error) { return m.archive.KeyHistory(ctx, owner, before, limit) })
}

func (m *measured) CreateKey(ctx context.Context, k apikey.Key, by apikey.Actor, atMost int) error {
	return m.tried(ctx, "create_key", func() error { return m.archive.CreateKey(ctx, k, by, atMost) })
}

func (m *measured) RenameKey(ctx context.Context, keyID, name string, by apikey.Actor) error {
	return m.tried(ctx, "rename_key", func() error { return m.archive.RenameKey(ctx, keyID, name, by) })
}

func (m *measured) RotateKey(ctx context.Context, keyID string, r apikey.Rotation, by apikey.Actor) error {
	return m.tried(ctx, "rotate_key", func() error { return m.archive.RotateKey(ctx, keyID, r, by) })
}

func (m *measured) Grant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return m.tried(ctx, "grant", func() error { return m.archive.Grant(ctx, keyID, g, by) })
}

func (m *measured) Ungrant(ctx context.Context, keyID string, g id.Guild, by apikey.Actor) error {
	return m.tried(ctx, "ungrant", func() error { return m.archive.Ungrant(ctx, keyID, g, by) })
}

func (m *measured) RevokeKey(ctx context.Context, keyID string, by apikey.Actor) error {
	return m.tried(ctx, "revoke_key", func() error { return m.archive.RevokeKey(ctx, keyID, by) })
}

func (m *measured) KeepGrants(ctx context.Context, owner id.User, guilds []id.Guild) ([]string, error) {
	return counted(ctx, m, "keep_grants", func() ([]string, error) { return m.archive.KeepGrants(ctx, owner, guilds) })
}

func (m *measured) AddUse(ctx context.Context, f apikey.UseFlush) error {
	return m.tried(ctx, "add_key_use", func() error { return m.archive.AddUse(ctx, f) })
}
