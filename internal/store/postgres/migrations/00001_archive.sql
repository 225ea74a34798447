-- Every time is a whole number of milliseconds since 1970 (UTC), as in the live store.
-- Identifiers are compared byte by byte (COLLATE "C"), so that pages run in the same order on every server.

-- +goose Up
-- +goose StatementBegin
CREATE TABLE guilds (
    id          text COLLATE "C" PRIMARY KEY,
    incarnation bigint NOT NULL UNIQUE,
    vanity      text COLLATE "C" UNIQUE,
    settings    jsonb  NOT NULL,           -- the admin API's document
    version     bigint NOT NULL,           -- the change that last touched the settings
    epoch       bigint NOT NULL DEFAULT 0,
    archived    bigint NOT NULL DEFAULT 0, -- the highest rev that a committed batch carried
    created_ms  bigint NOT NULL
);

-- Keyed by incarnation, without a reference to guilds: a guild is deleted at once, whatever it holds, and what its past
-- left behind can never be read again. The free space lets most updates stay on their page and leave the indexes alone.
CREATE TABLE members (
    incarnation   bigint  NOT NULL,
    user_id       text COLLATE "C" NOT NULL,
    xp            bigint  NOT NULL,
    message_count bigint  NOT NULL,
    updated_ms    bigint,                  -- null when not known
    cooldown_ms   bigint,                  -- when the cooldown ends; null when there is none
    avatar        text,
    discriminator text    NOT NULL,
    username      text    NOT NULL,
    global_name   text,
    accent_colour text,
    deleted       boolean NOT NULL,        -- a tombstone: only its epoch and rev count
    epoch         bigint  NOT NULL,
    rev           bigint  NOT NULL,
    written_ms    bigint  NOT NULL,
    PRIMARY KEY (incarnation, user_id)
) WITH (fillfactor = 85);

-- It must not name a column that every write changes, or no write would leave the indexes alone any more.
CREATE INDEX members_tombstones ON members (incarnation) WHERE deleted;

CREATE TABLE deleted_guilds (
    incarnation bigint PRIMARY KEY,        -- has members that Purge removes
    guild_id    text NOT NULL,
    deleted_ms  bigint NOT NULL
);

CREATE TABLE api_keys (
    id         text COLLATE "C" PRIMARY KEY,
    hash       bytea  NOT NULL CHECK (octet_length(hash) = 32), -- SHA-256 of the secret, which is nowhere
    name       text   NOT NULL,
    owner_id   text COLLATE "C" NOT NULL,
    permission text   NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint,                     -- null: never
    rate_limit integer                     -- requests a minute; null: the service's default; 0: none
);

CREATE TABLE key_grants (
    key_id   text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    guild_id text COLLATE "C" NOT NULL REFERENCES guilds ON DELETE CASCADE,
    PRIMARY KEY (key_id, guild_id)
);

CREATE INDEX key_grants_guild ON key_grants (guild_id);

CREATE TABLE change_log (
    version   bigint PRIMARY KEY,
    kind      text   NOT NULL,
    subject   text   NOT NULL,
    logged_ms bigint NOT NULL
);

-- One row. Whoever changes a guild or a key locks it first, so that versions are in the order of commits.
CREATE TABLE change_counter (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  bigint NOT NULL
);
INSERT INTO change_counter (version) VALUES (0);

-- The second key makes a takeover, which changes the fence, wait for the batches that hold FOR KEY SHARE, while a renewal
-- does not.
CREATE TABLE leases (
    name       text PRIMARY KEY,
    holder     text   NOT NULL,            -- empty when it was given up
    fence      bigint NOT NULL,
    expires_ms bigint NOT NULL,
    UNIQUE (name, fence)
);
-- +goose StatementEnd

-- +goose Down
DROP TABLE leases, change_counter, change_log, key_grants, api_keys, deleted_guilds, members, guilds;
