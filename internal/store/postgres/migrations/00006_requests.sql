-- What requests with a name did, for a day, so that none is made twice after Redis has lost its own records.

-- +goose Up
CREATE TABLE IF NOT EXISTS requests (
    incarnation bigint NOT NULL,
    name        bytea  NOT NULL,
    request     bytea  NOT NULL,           -- what was asked
    made_ms     bigint NOT NULL,
    outcome     text   NOT NULL,           -- as Redis had it
    users       text   NOT NULL,           -- whom it changed, with spaces between
    lost        text   NOT NULL DEFAULT '', -- those of them for whom Redis lost that before it was archived
    epoch       bigint,                    -- null once all that it did is archived, or lost
    rev         bigint,                    -- as of which it was made, in that epoch
    PRIMARY KEY (incarnation, name)
);

CREATE INDEX IF NOT EXISTS requests_made ON requests (made_ms);
CREATE INDEX IF NOT EXISTS requests_open ON requests (incarnation, rev) WHERE rev IS NOT NULL;

-- +goose Down
DROP TABLE requests;
