-- Daily gains of members, closed periods with their boards, and what a guild has yet to close. All of it are additions with
-- defaults, so that a service of the version before goes on beside this one.

-- +goose Up
-- A row is written with its member's row only, in one transaction, so it needs no epoch and no rev. The index leaves gained out and pages have
-- free space: a gain that grows stays on its page and leaves the indexes alone.
CREATE TABLE IF NOT EXISTS gains (
    incarnation bigint  NOT NULL,
    user_id     text COLLATE "C" NOT NULL,
    day         integer NOT NULL,          -- since 1970, in the guild's time zone
    gained      bigint  NOT NULL,          -- may be negative
    PRIMARY KEY (incarnation, user_id, day)
) WITH (fillfactor = 85);

CREATE INDEX IF NOT EXISTS gains_day ON gains (incarnation, day);

CREATE TABLE IF NOT EXISTS periods (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order of closing
    incarnation bigint  NOT NULL,
    id          text COLLATE "C" NOT NULL,
    kind        text    NOT NULL,
    name        text    NOT NULL,          -- of a season; else empty
    first_day   integer NOT NULL,
    end_day     integer NOT NULL,          -- the first one after it
    begins_ms   bigint  NOT NULL,
    ends_ms     bigint  NOT NULL,
    members     bigint  NOT NULL DEFAULT 0, -- above 0
    gained      bigint  NOT NULL DEFAULT 0, -- of those
    board       boolean NOT NULL,          -- has standings
    settings    jsonb,                     -- the guild's at closing; null without a board
    closed_ms   bigint  NOT NULL,
    announced   boolean NOT NULL DEFAULT false,
    trimmed     boolean NOT NULL DEFAULT false, -- Purge has nothing more to do with it
    UNIQUE (incarnation, id)
);

CREATE INDEX IF NOT EXISTS periods_kind ON periods (incarnation, kind, first_day);
CREATE INDEX IF NOT EXISTS periods_boards ON periods (incarnation, begins_ms DESC, ends_ms) WHERE board AND members > 0;
CREATE INDEX IF NOT EXISTS periods_unannounced ON periods (number) WHERE board AND members > 0 AND NOT announced;
CREATE INDEX IF NOT EXISTS periods_old ON periods (ends_ms) WHERE NOT trimmed;

-- The member is as it was at closing.
CREATE TABLE IF NOT EXISTS standings (
    period        bigint NOT NULL,         -- periods.number
    rank          bigint NOT NULL,
    user_id       text COLLATE "C" NOT NULL,
    gained        bigint NOT NULL,
    xp            bigint NOT NULL,
    message_count bigint NOT NULL,
    updated_ms    bigint,
    avatar        text,
    discriminator text   NOT NULL,
    username      text   NOT NULL,
    global_name   text,
    accent_colour text,
    PRIMARY KEY (period, rank)
);

ALTER TABLE guilds
    ADD COLUMN IF NOT EXISTS open       jsonb NOT NULL DEFAULT '{}', -- periods.Open
    ADD COLUMN IF NOT EXISTS closes_ms  bigint,                      -- when a period closes; 0: settings were written since; null: never
    ADD COLUMN IF NOT EXISTS keep_day   integer NOT NULL DEFAULT 0,  -- gains of this day and later ones are needed yet; 0: of none
    ADD COLUMN IF NOT EXISTS gains_from integer;                     -- Purge finds no gains of earlier days; null: of no day

CREATE INDEX IF NOT EXISTS guilds_closes ON guilds (closes_ms, id) WHERE closes_ms IS NOT NULL;
CREATE INDEX IF NOT EXISTS guilds_gains ON guilds (gains_from) WHERE gains_from IS NOT NULL;

-- +goose Down
DROP INDEX guilds_closes, guilds_gains;
ALTER TABLE guilds DROP COLUMN open, DROP COLUMN closes_ms, DROP COLUMN keep_day, DROP COLUMN gains_from;
DROP TABLE standings, periods, gains;
