-- Daily gains, closed periods and what a guild has yet to close, as in package postgres.

-- +goose Up
CREATE TABLE IF NOT EXISTS gains (
    incarnation INTEGER NOT NULL,
    user_id     TEXT    NOT NULL,
    day         INTEGER NOT NULL,
    gained      INTEGER NOT NULL,
    PRIMARY KEY (incarnation, user_id, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS gains_day ON gains (incarnation, day);

CREATE TABLE IF NOT EXISTS periods (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    incarnation INTEGER NOT NULL,
    id          TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    first_day   INTEGER NOT NULL,
    end_day     INTEGER NOT NULL,
    begins_ms   INTEGER NOT NULL,
    ends_ms     INTEGER NOT NULL,
    members     INTEGER NOT NULL DEFAULT 0,
    gained      INTEGER NOT NULL DEFAULT 0,
    board       INTEGER NOT NULL CHECK (board IN (0, 1)),
    settings    TEXT,
    closed_ms   INTEGER NOT NULL,
    announced   INTEGER NOT NULL DEFAULT 0 CHECK (announced IN (0, 1)),
    trimmed     INTEGER NOT NULL DEFAULT 0 CHECK (trimmed IN (0, 1)),
    UNIQUE (incarnation, id)
) STRICT;

CREATE INDEX IF NOT EXISTS periods_kind ON periods (incarnation, kind, first_day);
CREATE INDEX IF NOT EXISTS periods_boards ON periods (incarnation, begins_ms DESC, ends_ms) WHERE board AND members > 0;
CREATE INDEX IF NOT EXISTS periods_unannounced ON periods (number) WHERE board AND members > 0 AND NOT announced;
CREATE INDEX IF NOT EXISTS periods_old ON periods (ends_ms) WHERE NOT trimmed;

CREATE TABLE IF NOT EXISTS standings (
    period        INTEGER NOT NULL,
    rank          INTEGER NOT NULL,
    user_id       TEXT    NOT NULL,
    gained        INTEGER NOT NULL,
    xp            INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    updated_ms    INTEGER,
    avatar        TEXT,
    discriminator TEXT    NOT NULL,
    username      TEXT    NOT NULL,
    global_name   TEXT,
    accent_colour TEXT,
    PRIMARY KEY (period, rank)
) STRICT, WITHOUT ROWID;

ALTER TABLE guilds ADD COLUMN open TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(open));
ALTER TABLE guilds ADD COLUMN closes_ms INTEGER;
ALTER TABLE guilds ADD COLUMN keep_day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE guilds ADD COLUMN gains_from INTEGER;

CREATE INDEX IF NOT EXISTS guilds_closes ON guilds (closes_ms, id) WHERE closes_ms IS NOT NULL;
CREATE INDEX IF NOT EXISTS guilds_gains ON guilds (gains_from) WHERE gains_from IS NOT NULL;

-- +goose Down
DROP INDEX guilds_closes;
DROP INDEX guilds_gains;
ALTER TABLE guilds DROP COLUMN open;
ALTER TABLE guilds DROP COLUMN closes_ms;
ALTER TABLE guilds DROP COLUMN keep_day;
ALTER TABLE guilds DROP COLUMN gains_from;
DROP TABLE standings;
DROP TABLE periods;
DROP TABLE gains;
