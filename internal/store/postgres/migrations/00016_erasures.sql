-- Who was erased, so that an older Redis cannot bring them back. A user's id is there until all is erased, and then only its HMAC-SHA256 under the
-- secret. The secret's row is also a lock: a copy of members shares it, and the last step of an erasure waits for such copies.

-- +goose Up
CREATE TABLE IF NOT EXISTS erasures (
    number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- stands for the user in the audit log
    hash      text   COLLATE "C" NOT NULL UNIQUE,
    erased_ms bigint,                      -- by Redis' clock; what is older is erased; null until Redis was searched
    user_id   text   COLLATE "C"           -- null once all is erased
);

CREATE INDEX IF NOT EXISTS erasures_open ON erasures (number) WHERE user_id IS NOT NULL;

CREATE TABLE IF NOT EXISTS erasure_secret (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    secret   bytea NOT NULL
);
INSERT INTO erasure_secret (secret)
VALUES (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')) ON CONFLICT DO NOTHING;

-- +goose Down
DROP TABLE erasures, erasure_secret;
