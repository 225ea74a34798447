-- Who was erased, as in package postgres.

-- +goose Up
CREATE TABLE IF NOT EXISTS erasures (
    number    INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    hash      TEXT    NOT NULL UNIQUE,
    erased_ms INTEGER,
    user_id   TEXT
) STRICT;

CREATE INDEX IF NOT EXISTS erasures_open ON erasures (number) WHERE user_id IS NOT NULL;

CREATE TABLE IF NOT EXISTS erasure_secret (
    only_row INTEGER NOT NULL PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
    secret   BLOB    NOT NULL
) STRICT;
INSERT INTO erasure_secret (secret) VALUES (randomblob(32)) ON CONFLICT DO NOTHING;

-- +goose Down
DROP TABLE erasures;
DROP TABLE erasure_secret;
