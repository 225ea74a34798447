-- The archive's tables. Until the first release this file is edited in place; package sqlite has the same tables.
-- Times are milliseconds since 1970 (UTC), days are days since 1970 in the guild's time zone.
-- Identifiers are compared byte by byte (COLLATE "C"), so that pages have the same order on every server.
--
-- Each question has one index. By statistics that are missing or old, every index with a column of the question seems to find one row at once, and
-- the planner may take the wrong one. So an index that must not be mistaken for another has an expression such as incarnation + 0 in place of
-- a column, and only the questions that it is for say so too.

-- +goose Up
-- Functions that make statements mean the same here and in SQLite. The clock does not stand still while a transaction waits for a lock.
CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint';
CREATE FUNCTION hex(bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT encode($1, 'hex')$$;
CREATE FUNCTION unhex(text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$SELECT decode($1, 'hex')$$;
CREATE FUNCTION jsonb_each(text) RETURNS TABLE (key bigint, value jsonb) LANGUAGE sql IMMUTABLE
    AS 'SELECT n - 1, v FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS e (v, n)';

CREATE TABLE guilds (
    id          text COLLATE "C" PRIMARY KEY,
    incarnation bigint  NOT NULL UNIQUE,
    vanity      text COLLATE "C" UNIQUE,
    settings    jsonb   NOT NULL,              -- the admin API's document
    version     bigint  NOT NULL,              -- the last change of the settings
    described   bigint  NOT NULL DEFAULT 0,    -- the last change of the settings by a description
    epoch       bigint  NOT NULL DEFAULT 0,
    archived    bigint  NOT NULL DEFAULT 0,    -- the highest rev of a committed batch
    verified    bigint  NOT NULL DEFAULT 0,    -- how many of the last epochs only verified the guild, with nothing archived since
    created_ms  bigint  NOT NULL,
    open        jsonb   NOT NULL DEFAULT '{}', -- periods.Open
    hidden      bigint  NOT NULL DEFAULT 0,    -- the last change of who is hidden
    closes_ms   bigint,                        -- when a period closes; 0: settings were written since; null: never
    keep_day    integer NOT NULL DEFAULT 0,    -- gains of this day and later ones are still needed; 0: none are
    gains_from  integer,                       -- Purge has deleted the gains of earlier days; null: there are none
    reset       text    NOT NULL DEFAULT '',   -- events.Reason, until followers have been told
    audit_log   bigint,                        -- null: the incarnation
    audited_ms  bigint  NOT NULL DEFAULT 0     -- the newest record that the archive made itself
);

CREATE INDEX guilds_closes ON guilds (closes_ms, id) WHERE closes_ms IS NOT NULL;
CREATE INDEX guilds_gains ON guilds (gains_from) WHERE gains_from IS NOT NULL;
CREATE INDEX guilds_reset ON guilds (id) WHERE reset <> '';
CREATE INDEX guilds_audit_log ON guilds (audit_log) WHERE audit_log IS NOT NULL;
CREATE INDEX guilds_owner ON guilds ((settings ->> 'ownerId'));
CREATE INDEX guilds_admins ON guilds USING gin ((settings -> 'adminIds') jsonb_path_ops);

-- Roles and channels, as the guild's bot describes them.
CREATE TABLE directories (
    guild_id text COLLATE "C" PRIMARY KEY REFERENCES guilds ON DELETE CASCADE,
    document jsonb NOT NULL                -- guild.MarshalDirectory
);

-- Who is hidden in a guild, with an entry or without. A flag that was lifted stays as 0, so that its number tells the live store.
CREATE TABLE hidden (
    guild_id text COLLATE "C" NOT NULL REFERENCES guilds ON DELETE CASCADE,
    user_id  text COLLATE "C" NOT NULL,
    flags    integer NOT NULL,             -- hidden.Flags
    number   bigint  NOT NULL,             -- of the last change
    PRIMARY KEY (guild_id, user_id)
);

CREATE INDEX hidden_number ON hidden (guild_id, number);
CREATE INDEX hidden_user ON hidden (user_id);

-- Who is left out of all that shows members.
CREATE VIEW hidden_members AS
    SELECT guilds.incarnation, hidden.user_id FROM guilds JOIN hidden ON hidden.guild_id = guilds.id WHERE flags <> 0;

-- How far each announcement of a guild's settings is.
CREATE TABLE announcements (
    guild_id   text COLLATE "C" NOT NULL REFERENCES guilds ON DELETE CASCADE,
    id         text COLLATE "C" NOT NULL,
    kind       text   NOT NULL,
    version    bigint NOT NULL,             -- rises whenever it begins anew
    cursor_ms  bigint NOT NULL,             -- with cursor_n up to which event of the guild's log it is
    cursor_n   bigint NOT NULL DEFAULT 0,
    secret     bytea  NOT NULL,             -- signs what is posted to a webhook
    off        text   NOT NULL DEFAULT '',  -- why it is off; empty while it is on
    sent_ms    bigint,                      -- null: never
    last_error text   NOT NULL DEFAULT '',
    message    text   NOT NULL DEFAULT '',  -- the id of a board's message
    shown      text   NOT NULL DEFAULT '',  -- a digest of what it shows
    PRIMARY KEY (guild_id, id)
);

-- Keyed by incarnation, without a reference to guilds: a guild is deleted at once, however many members it has, and nobody can
-- read them again. With the free space most updates stay on their page and leave the indexes alone.
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
    words         text    NOT NULL,        -- leaderboard.Words of the names, with spaces between
    present       boolean NOT NULL,
    deleted       boolean NOT NULL,        -- a tombstone: only its epoch and rev count
    epoch         bigint  NOT NULL,
    rev           bigint  NOT NULL,        -- 0 in a copy
    written_ms    bigint  NOT NULL,
    PRIMARY KEY (incarnation, user_id)
) WITH (fillfactor = 85);

-- An index must not name a column that every write changes, or every write would change all indexes.
CREATE INDEX members_tombstones ON members (incarnation, user_id) WHERE deleted;
CREATE INDEX members_absent ON members (incarnation, user_id) WHERE NOT present;

-- Members are found by the beginning of any word of their names. The service folds the words, so that the index means the same on every
-- server and after every upgrade of its libraries. A row that keeps its words leaves this table alone.
CREATE TABLE member_words (
    incarnation bigint NOT NULL,
    word        text COLLATE "C" NOT NULL,
    user_id     text COLLATE "C" NOT NULL,
    PRIMARY KEY (incarnation, word, user_id)
);

-- +goose StatementBegin
CREATE FUNCTION index_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM member_words
        WHERE incarnation = OLD.incarnation AND user_id = OLD.user_id AND word = ANY (string_to_array(OLD.words, ' '));
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO member_words
        SELECT NEW.incarnation, word, NEW.user_id FROM unnest(string_to_array(NEW.words, ' ')) AS word ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- A copy for a checkpoint has rev 0, and nobody searches it.
CREATE TRIGGER members_words_new AFTER INSERT ON members FOR EACH ROW WHEN (NEW.words <> '' AND NEW.rev > 0) EXECUTE FUNCTION index_words();
CREATE TRIGGER members_words_changed AFTER UPDATE OF words ON members FOR EACH ROW WHEN (OLD.words <> NEW.words) EXECUTE FUNCTION index_words();
CREATE TRIGGER members_words_gone AFTER DELETE ON members FOR EACH ROW WHEN (OLD.words <> '') EXECUTE FUNCTION index_words();

CREATE TABLE deleted_guilds (
    incarnation bigint PRIMARY KEY,        -- has rows that Purge deletes
    guild_id    text   NOT NULL,
    deleted_ms  bigint NOT NULL
);

-- Copies of a guild's members, each with an incarnation of its own.
CREATE TABLE checkpoints (
    incarnation bigint  PRIMARY KEY,
    guild_id    text COLLATE "C" NOT NULL,
    name        text    NOT NULL,
    created_ms  bigint  NOT NULL,
    members     bigint  NOT NULL,
    automatic   boolean NOT NULL
);

CREATE INDEX checkpoints_guild ON checkpoints (guild_id, created_ms DESC);
CREATE INDEX checkpoints_old ON checkpoints (created_ms) WHERE automatic;

-- Imports of files, each applied once to the members of an incarnation.
CREATE TABLE imports (
    incarnation bigint  NOT NULL,
    files       text    NOT NULL,          -- their SHA-256
    name        text    NOT NULL,
    checkpoint  text    NOT NULL,
    started_ms  bigint  NOT NULL,
    finished    boolean NOT NULL,
    plan        text    NOT NULL,          -- the SHA-256 of the import's calls; empty when the caller gave none
    PRIMARY KEY (incarnation, files)
);

-- A gain is written with its member's row only, in one transaction, so it needs no epoch and no rev. The index leaves gained out and pages have
-- free space: a gain that grows stays on its page and leaves the indexes alone.
CREATE TABLE gains (
    incarnation bigint  NOT NULL,
    user_id     text COLLATE "C" NOT NULL,
    day         integer NOT NULL,
    gained      bigint  NOT NULL,          -- may be negative
    PRIMARY KEY (incarnation, user_id, day)
) WITH (fillfactor = 85);

CREATE INDEX gains_day ON gains ((incarnation + 0), (day + 0));

CREATE TABLE periods (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order of closing
    incarnation bigint  NOT NULL,
    id          text COLLATE "C" NOT NULL,
    kind        text    NOT NULL,
    name        text    NOT NULL,          -- a season's; else empty
    first_day   integer NOT NULL,
    end_day     integer NOT NULL,          -- the first one after it
    begins_ms   bigint  NOT NULL,
    ends_ms     bigint  NOT NULL,
    members     bigint  NOT NULL DEFAULT 0, -- above 0
    gained      bigint  NOT NULL DEFAULT 0, -- by those
    board       boolean NOT NULL,          -- has standings
    settings    jsonb,                     -- the guild's at closing; null without a board
    closed_ms   bigint  NOT NULL,
    announced   boolean NOT NULL DEFAULT false,
    trimmed     boolean NOT NULL DEFAULT false, -- Purge has nothing more to do with it
    UNIQUE (incarnation, id)
);

CREATE INDEX periods_kind ON periods ((incarnation + 0), kind, first_day);
CREATE INDEX periods_boards ON periods ((incarnation + 0), begins_ms DESC, ends_ms) WHERE board AND members > 0;
CREATE INDEX periods_unannounced ON periods (number) WHERE board AND members > 0 AND NOT announced;
CREATE INDEX periods_old ON periods (ends_ms) WHERE NOT trimmed;

-- Members as they were at closing.
CREATE TABLE standings (
    period        bigint NOT NULL,         -- periods.number
    rank          bigint NOT NULL,
    user_id       text COLLATE "C" NOT NULL,
    gained        bigint NOT NULL,
    xp            bigint NOT NULL,
    message_count bigint NOT NULL,
    updated_ms    bigint,
    avatar        text,
    discriminator text   NOT NULL,
    username      text   NOT NULL,
    global_name   text,
    accent_colour text,
    PRIMARY KEY (period, rank)
);

CREATE INDEX standings_user ON standings (user_id, (period + 0));

-- Requests with a name, kept for a day, so that none is made twice after Redis has lost its own records.
CREATE TABLE requests (
    incarnation bigint NOT NULL,
    name        bytea  NOT NULL,
    request     bytea  NOT NULL,           -- a digest of what was asked for
    made_ms     bigint NOT NULL,
    outcome     text   NOT NULL,           -- as Redis had it
    users       text   NOT NULL,           -- whom it changed, with spaces between
    lost        text   NOT NULL DEFAULT '', -- those whose change Redis lost before it was archived
    epoch       bigint,                    -- null once all its changes are archived or lost
    rev         bigint,                    -- at which it was made, in that epoch
    PRIMARY KEY (incarnation, name)
);

CREATE INDEX requests_made ON requests (made_ms);
CREATE INDEX requests_open ON requests ((incarnation + 0), rev) WHERE rev IS NOT NULL;

-- A guild has one audit log, whose number is its first incarnation: restores and resets keep it.
CREATE TABLE audit (
    log        bigint NOT NULL,
    at_ms      bigint NOT NULL,
    number     bigint NOT NULL,            -- within the millisecond
    actor_kind text   NOT NULL,
    actor_id   text   NOT NULL,
    actor_name text   NOT NULL,
    action     text   NOT NULL,
    user_id    text   NOT NULL,            -- empty for none, as are the next two
    before     text   NOT NULL,            -- JSON
    after      text   NOT NULL,
    members    bigint,
    reason     text   NOT NULL,
    request_id text   NOT NULL,
    PRIMARY KEY (log, at_ms, number)
);

CREATE INDEX audit_user ON audit (user_id, (log + 0), at_ms, number) WHERE user_id <> '';
CREATE INDEX audit_actor ON audit (actor_id, (log - 0), at_ms, number);
CREATE INDEX audit_old ON audit ((at_ms + 0));
-- The records whose text may name a user, for an erasure.
CREATE INDEX audit_texts ON audit ((log + 0), at_ms, number) WHERE reason <> '' OR action IN ('settings', 'directory');

-- Who was erased, so that an older Redis cannot bring them back. The user's id is kept until the erasure is complete, then only its HMAC-SHA256
-- under the secret. The secret's row is also a lock: a copy of members shares it, and the last step of an erasure waits for such copies.
CREATE TABLE erasures (
    number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- stands for the user in the audit log
    hash      text COLLATE "C" NOT NULL UNIQUE,
    erased_ms bigint,                      -- by Redis' clock; what is older is erased; null until Redis was searched
    user_id   text COLLATE "C"             -- null once the erasure is complete
);

CREATE INDEX erasures_open ON erasures (number) WHERE user_id IS NOT NULL;

CREATE TABLE erasure_secret (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    secret   bytea NOT NULL
);
INSERT INTO erasure_secret (secret)
VALUES (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

CREATE TABLE api_keys (
    id           text COLLATE "C" PRIMARY KEY,
    hash         bytea   NOT NULL CHECK (octet_length(hash) = 32), -- SHA-256 of the secret, which is stored nowhere
    name         text    NOT NULL,
    owner_id     text COLLATE "C" NOT NULL,
    permission   text    NOT NULL,
    created_ms   bigint  NOT NULL,
    expires_ms   bigint,                   -- null: never
    rate_limit   integer,                  -- requests a minute; null: the service's default; 0: none
    last_used_ms bigint                    -- null: never
);

CREATE INDEX api_keys_owner ON api_keys (owner_id);

CREATE TABLE key_grants (
    key_id     text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    guild_id   text COLLATE "C" NOT NULL REFERENCES guilds ON DELETE CASCADE,
    granted_by text COLLATE "C" NOT NULL,  -- the id of the key's owner, or operator
    PRIMARY KEY (key_id, guild_id)
);

CREATE INDEX key_grants_guild ON key_grants (guild_id);

-- A request waits for its key to be read. By statistics of keys that are gone, a key can seem to have so large a share of all grants that
-- reading the whole table looks cheaper than the index; with a hundred new keys at once that took seconds. So the planner is told that every
-- grant is another key's.
ALTER TABLE key_grants ALTER COLUMN key_id SET (n_distinct = -1);

-- Secrets replaced by rotations, each until its overlap ends.
CREATE TABLE key_old_secrets (
    key_id   text COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    hash     bytea  NOT NULL CHECK (octet_length(hash) = 32),
    until_ms bigint NOT NULL,
    PRIMARY KEY (key_id, hash)
);

-- Changes of keys, without a reference to them: a record outlives its key.
CREATE TABLE key_records (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner_id    text COLLATE "C" NOT NULL,
    at_ms       bigint NOT NULL,
    made_by     text   NOT NULL,           -- a user's id, operator or service
    action      text   NOT NULL,
    key_id      text   NOT NULL,
    key_name    text   NOT NULL,
    guild_ids   text   NOT NULL,           -- with spaces between
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

CREATE INDEX key_use_hour ON key_use ((hour + 0));

CREATE TABLE change_log (
    version   bigint PRIMARY KEY,
    kind      text   NOT NULL,
    subject   text   NOT NULL,
    logged_ms bigint NOT NULL
);

-- One row. A change of a guild or a key locks it first, so that versions are in the order of commits.
CREATE TABLE change_counter (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  bigint NOT NULL
);
INSERT INTO change_counter (version) VALUES (0);

-- The second key makes a takeover, which changes the fence, wait for batches that hold FOR KEY SHARE, while a renewal does not.
CREATE TABLE leases (
    name       text PRIMARY KEY,
    holder     text    NOT NULL,           -- empty when it was released
    fence      bigint  NOT NULL,
    expires_ms bigint  NOT NULL,
    last       boolean NOT NULL,           -- the holder exits: others that exit wait for it
    UNIQUE (name, fence)
);
