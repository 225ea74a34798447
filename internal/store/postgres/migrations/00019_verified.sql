-- How many of a guild's last epochs only verified it, with nothing archived since.

-- +goose Up
ALTER TABLE guilds ADD COLUMN IF NOT EXISTS verified bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE guilds DROP COLUMN IF EXISTS verified;
