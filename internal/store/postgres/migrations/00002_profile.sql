-- What the owners of keys need. All of it are additions with defaults, so that a service of the version before goes on
-- beside this one: what it grants counts as the operator's, it writes no records, and it takes a key's newest secret only.

-- +goose Up
-- +goose StatementBegin
ALTER TABLE api_keys ADD COLUMN last_used_ms bigint; -- null: not since requests are counted
CREATE INDEX api_keys_owner ON api_keys (owner_id);

-- Who granted: the id of the key's owner, or operator.
ALTER TABLE key_grants ADD COLUMN granted_by text COLLATE "C" NOT NULL DEFAULT 'operator';

-- Secrets from before rotations, each until its overlap is over.
CREATE TABLE key_old_secrets (
    key_id   text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    hash     bytea  NOT NULL CHECK (octet_length(hash) = 32),
    until_ms bigint NOT NULL,
    PRIMARY KEY (key_id, hash)
);

-- What was done to keys, without a reference to them: a record outlives its key.
CREATE TABLE key_records (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner_id    text COLLATE "C" NOT NULL,
    at_ms       bigint NOT NULL,
    made_by     text   NOT NULL,           -- a user's id, operator or service
    action      text   NOT NULL,
    key_id      text   NOT NULL,
    key_name    text   NOT NULL,
    guild_ids   text   NOT NULL,           -- with spaces in between
    former_name text   NOT NULL,
    until_ms    bigint
);

CREATE INDEX key_records_owner ON key_records (owner_id, number);
CREATE INDEX key_records_at ON key_records (at_ms);

CREATE TABLE key_use (
    key_id   text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    hour     bigint NOT NULL,              -- since 1970 (UTC)
    requests bigint NOT NULL,
    PRIMARY KEY (key_id, hour)
);

CREATE INDEX key_use_hour ON key_use (hour);

-- The last flush of each replica, so that one that is repeated is not added twice.
CREATE TABLE key_use_flushes (
    replica text PRIMARY KEY,
    number  bigint NOT NULL,
    at_ms   bigint NOT NULL
);
-- +goose StatementEnd
