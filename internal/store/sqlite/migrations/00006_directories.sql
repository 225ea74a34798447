-- The roles and channels of guilds, as in package postgres.

-- +goose Up
CREATE TABLE IF NOT EXISTS directories (
    guild_id TEXT PRIMARY KEY REFERENCES guilds ON DELETE CASCADE,
    document TEXT NOT NULL CHECK (json_valid(document))
) STRICT, WITHOUT ROWID;

ALTER TABLE guilds ADD COLUMN described INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE guilds DROP COLUMN described;
DROP TABLE directories;
