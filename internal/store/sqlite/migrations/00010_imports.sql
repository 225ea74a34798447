-- Imports of files that are applied once, as in package postgres.

-- +goose Up
CREATE TABLE IF NOT EXISTS imports (
    incarnation INTEGER NOT NULL,
    files       TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    checkpoint  TEXT    NOT NULL,
    started_ms  INTEGER NOT NULL,
    finished    INTEGER NOT NULL CHECK (finished IN (0, 1)),
    PRIMARY KEY (incarnation, files)
) STRICT;

-- +goose Down
DROP TABLE imports;
