-- Imports of files that are applied once to the members of an incarnation; files is their SHA-256.

-- +goose Up
CREATE TABLE IF NOT EXISTS imports (
    incarnation bigint  NOT NULL,
    files       text    NOT NULL,
    name        text    NOT NULL,
    checkpoint  text    NOT NULL,
    started_ms  bigint  NOT NULL,
    finished    boolean NOT NULL,
    PRIMARY KEY (incarnation, files)
);

-- +goose Down
DROP TABLE imports;
