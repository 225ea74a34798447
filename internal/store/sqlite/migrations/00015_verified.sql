-- How many of a guild's last epochs only verified it, as in package postgres.

-- +goose Up
ALTER TABLE guilds ADD COLUMN verified INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE guilds DROP COLUMN verified;
