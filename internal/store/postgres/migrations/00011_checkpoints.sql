-- Checkpoints of guilds, whose members are rows of an incarnation of their own, and resets that followers are yet to be told of. All of it are
-- additions with defaults, so that a service of the version before goes on beside this one.

-- +goose Up
CREATE TABLE IF NOT EXISTS checkpoints (
    incarnation bigint  PRIMARY KEY,
    guild_id    text COLLATE "C" NOT NULL,
    name        text    NOT NULL,
    created_ms  bigint  NOT NULL,
    members     bigint  NOT NULL,
    automatic   boolean NOT NULL
);

CREATE INDEX IF NOT EXISTS checkpoints_guild ON checkpoints (guild_id, created_ms DESC);
CREATE INDEX IF NOT EXISTS checkpoints_old ON checkpoints (created_ms) WHERE automatic;
CREATE INDEX IF NOT EXISTS members_absent ON members (incarnation, user_id) WHERE NOT present;

ALTER TABLE guilds ADD COLUMN IF NOT EXISTS reset text NOT NULL DEFAULT ''; -- events.Reason
CREATE INDEX IF NOT EXISTS guilds_reset ON guilds (id) WHERE reset <> '';

-- +goose Down
DROP INDEX guilds_reset, members_absent;
ALTER TABLE guilds DROP COLUMN reset;
DROP TABLE checkpoints;
