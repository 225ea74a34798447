-- What requests with a name did, as in package postgres.

-- +goose Up
CREATE TABLE requests (
    incarnation INTEGER NOT NULL,
    name        BLOB    NOT NULL,
    request     BLOB    NOT NULL,
    made_ms     INTEGER NOT NULL,
    outcome     TEXT    NOT NULL,
    users       TEXT    NOT NULL,
    lost        TEXT    NOT NULL DEFAULT '',
    epoch       INTEGER,
    rev         INTEGER,
    PRIMARY KEY (incarnation, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX requests_made ON requests (made_ms);
CREATE INDEX requests_open ON requests (incarnation, rev) WHERE rev IS NOT NULL;

-- +goose Down
DROP TABLE requests;
