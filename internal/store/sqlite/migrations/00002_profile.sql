-- The same tables as those of package postgres; their comments hold here too.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE api_keys ADD COLUMN last_used_ms INTEGER;
CREATE INDEX api_keys_owner ON api_keys (owner_id);

ALTER TABLE key_grants ADD COLUMN granted_by TEXT NOT NULL DEFAULT 'operator';

CREATE TABLE key_old_secrets (
    key_id   TEXT    NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    hash     BLOB    NOT NULL CHECK (length(hash) = 32),
    until_ms INTEGER NOT NULL,
    PRIMARY KEY (key_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE key_records (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id    TEXT    NOT NULL,
    at_ms       INTEGER NOT NULL,
    made_by     TEXT    NOT NULL,
    action      TEXT    NOT NULL,
    key_id      TEXT    NOT NULL,
    key_name    TEXT    NOT NULL,
    guild_ids   TEXT    NOT NULL,
    former_name TEXT    NOT NULL,
    until_ms    INTEGER
) STRICT;

CREATE INDEX key_records_owner ON key_records (owner_id, number);
CREATE INDEX key_records_at ON key_records (at_ms);

CREATE TABLE key_use (
    key_id   TEXT    NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    hour     INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (key_id, hour)
) STRICT, WITHOUT ROWID;

CREATE INDEX key_use_hour ON key_use (hour);

CREATE TABLE key_use_flushes (
    replica TEXT PRIMARY KEY,
    number  INTEGER NOT NULL,
    at_ms   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- +goose StatementEnd
