-- The same tables as those of package postgres; their comments hold here too. Text is compared byte by byte.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE guilds (
    id          TEXT PRIMARY KEY,
    incarnation INTEGER NOT NULL UNIQUE,
    vanity      TEXT UNIQUE,
    settings    TEXT    NOT NULL CHECK (json_valid(settings)),
    version     INTEGER NOT NULL,
    epoch       INTEGER NOT NULL DEFAULT 0,
    archived    INTEGER NOT NULL DEFAULT 0,
    created_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
    incarnation   INTEGER NOT NULL,
    user_id       TEXT    NOT NULL,
    xp            INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    updated_ms    INTEGER,
    cooldown_ms   INTEGER,
    avatar        TEXT,
    discriminator TEXT    NOT NULL,
    username      TEXT    NOT NULL,
    global_name   TEXT,
    accent_colour TEXT,
    deleted       INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    epoch         INTEGER NOT NULL,
    rev           INTEGER NOT NULL,
    written_ms    INTEGER NOT NULL,
    PRIMARY KEY (incarnation, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_tombstones ON members (incarnation) WHERE deleted;

CREATE TABLE deleted_guilds (
    incarnation INTEGER PRIMARY KEY,
    guild_id    TEXT NOT NULL,
    deleted_ms  INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
    id         TEXT PRIMARY KEY,
    hash       BLOB    NOT NULL CHECK (length(hash) = 32),
    name       TEXT    NOT NULL,
    owner_id   TEXT    NOT NULL,
    permission TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    rate_limit INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE key_grants (
    key_id   TEXT NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    guild_id TEXT NOT NULL REFERENCES guilds ON DELETE CASCADE,
    PRIMARY KEY (key_id, guild_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX key_grants_guild ON key_grants (guild_id);

CREATE TABLE change_log (
    version   INTEGER PRIMARY KEY,
    kind      TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    logged_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE change_counter (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    version  INTEGER NOT NULL
) STRICT;
INSERT INTO change_counter (only_row, version) VALUES (1, 0);

CREATE TABLE leases (
    name       TEXT PRIMARY KEY,
    holder     TEXT    NOT NULL,
    fence      INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- +goose StatementEnd

-- +goose Down
DROP TABLE leases;
DROP TABLE change_counter;
DROP TABLE change_log;
DROP TABLE key_grants;
DROP TABLE api_keys;
DROP TABLE deleted_guilds;
DROP TABLE members;
DROP TABLE guilds;
