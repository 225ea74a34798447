-- Checkpoints of guilds and resets that followers are yet to be told of, as in package postgres.

-- +goose Up
CREATE TABLE IF NOT EXISTS checkpoints (
    incarnation INTEGER NOT NULL PRIMARY KEY,
    guild_id    TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    created_ms  INTEGER NOT NULL,
    members     INTEGER NOT NULL,
    automatic   INTEGER NOT NULL CHECK (automatic IN (0, 1))
) STRICT;

CREATE INDEX IF NOT EXISTS checkpoints_guild ON checkpoints (guild_id, created_ms DESC);
CREATE INDEX IF NOT EXISTS checkpoints_old ON checkpoints (created_ms) WHERE automatic;
CREATE INDEX IF NOT EXISTS members_absent ON members (incarnation, user_id) WHERE NOT present;

ALTER TABLE guilds ADD COLUMN reset TEXT NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS guilds_reset ON guilds (id) WHERE reset <> '';

-- +goose Down
DROP INDEX guilds_reset;
DROP INDEX members_absent;
ALTER TABLE guilds DROP COLUMN reset;
DROP TABLE checkpoints;
