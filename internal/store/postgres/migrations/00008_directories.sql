-- The roles and channels of guilds, as their bots describe them. All of it are additions with defaults, so that a service of the version before
-- goes on beside this one.

-- +goose Up
CREATE TABLE IF NOT EXISTS directories (
    guild_id text COLLATE "C" PRIMARY KEY REFERENCES guilds ON DELETE CASCADE,
    document jsonb NOT NULL                -- guild.MarshalDirectory
);

ALTER TABLE guilds
    ADD COLUMN IF NOT EXISTS described bigint NOT NULL DEFAULT 0; -- the change of a description that last touched the settings; version is of any other

-- +goose Down
ALTER TABLE guilds DROP COLUMN described;
DROP TABLE directories;
