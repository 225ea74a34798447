-- The same tables as those of package postgres, where the comments are. Text is compared byte by byte.

-- +goose Up
CREATE TABLE guilds (
    id          TEXT PRIMARY KEY,
    incarnation INTEGER NOT NULL UNIQUE,
    vanity      TEXT UNIQUE,
    settings    TEXT    NOT NULL CHECK (json_valid(settings)),
    version     INTEGER NOT NULL,
    described   INTEGER NOT NULL DEFAULT 0,
    epoch       INTEGER NOT NULL DEFAULT 0,
    archived    INTEGER NOT NULL DEFAULT 0,
    verified    INTEGER NOT NULL DEFAULT 0,
    created_ms  INTEGER NOT NULL,
    open        TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(open)),
    hidden      INTEGER NOT NULL DEFAULT 0,
    closes_ms   INTEGER,
    keep_day    INTEGER NOT NULL DEFAULT 0,
    gains_from  INTEGER,
    reset       TEXT    NOT NULL DEFAULT '',
    audit_log   INTEGER,
    audited_ms  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX guilds_closes ON guilds (closes_ms, id) WHERE closes_ms IS NOT NULL;
CREATE INDEX guilds_gains ON guilds (gains_from) WHERE gains_from IS NOT NULL;
CREATE INDEX guilds_reset ON guilds (id) WHERE reset <> '';
CREATE INDEX guilds_audit_log ON guilds (audit_log) WHERE audit_log IS NOT NULL;

CREATE TABLE directories (
    guild_id TEXT PRIMARY KEY REFERENCES guilds ON DELETE CASCADE,
    document TEXT NOT NULL CHECK (json_valid(document))
) STRICT, WITHOUT ROWID;

CREATE TABLE hidden (
    guild_id TEXT    NOT NULL REFERENCES guilds ON DELETE CASCADE,
    user_id  TEXT    NOT NULL,
    flags    INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    PRIMARY KEY (guild_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX hidden_number ON hidden (guild_id, number);
CREATE INDEX hidden_user ON hidden (user_id);

CREATE VIEW hidden_members AS
    SELECT guilds.incarnation, hidden.user_id FROM guilds JOIN hidden ON hidden.guild_id = guilds.id WHERE flags <> 0;

CREATE TABLE announcements (
    guild_id   TEXT NOT NULL REFERENCES guilds ON DELETE CASCADE,
    id         TEXT NOT NULL,
    kind       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    cursor_ms  INTEGER NOT NULL,
    cursor_n   INTEGER NOT NULL DEFAULT 0,
    secret     BLOB NOT NULL,
    off        TEXT NOT NULL DEFAULT '',
    sent_ms    INTEGER,
    last_error TEXT NOT NULL DEFAULT '',
    message    TEXT NOT NULL DEFAULT '',
    shown      TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (guild_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
    incarnation   INTEGER NOT NULL,
    user_id       TEXT    NOT NULL,
    xp            INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    updated_ms    INTEGER,
    cooldown_ms   INTEGER,
    avatar        TEXT,
    discriminator TEXT    NOT NULL,
    username      TEXT    NOT NULL,
    global_name   TEXT,
    accent_colour TEXT,
    words         TEXT    NOT NULL,
    present       INTEGER NOT NULL CHECK (present IN (0, 1)),
    deleted       INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    epoch         INTEGER NOT NULL,
    rev           INTEGER NOT NULL,
    written_ms    INTEGER NOT NULL,
    PRIMARY KEY (incarnation, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_tombstones ON members (incarnation, user_id) WHERE deleted;
CREATE INDEX members_absent ON members (incarnation, user_id) WHERE NOT present;

CREATE TABLE deleted_guilds (
    incarnation INTEGER PRIMARY KEY,
    guild_id    TEXT NOT NULL,
    deleted_ms  INTEGER NOT NULL
) STRICT;

CREATE TABLE checkpoints (
    incarnation INTEGER NOT NULL PRIMARY KEY,
    guild_id    TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    created_ms  INTEGER NOT NULL,
    members     INTEGER NOT NULL,
    automatic   INTEGER NOT NULL CHECK (automatic IN (0, 1))
) STRICT;

CREATE INDEX checkpoints_guild ON checkpoints (guild_id, created_ms DESC);
CREATE INDEX checkpoints_old ON checkpoints (created_ms) WHERE automatic;

CREATE TABLE imports (
    incarnation INTEGER NOT NULL,
    files       TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    checkpoint  TEXT    NOT NULL,
    started_ms  INTEGER NOT NULL,
    finished    INTEGER NOT NULL CHECK (finished IN (0, 1)),
    plan        TEXT    NOT NULL,
    PRIMARY KEY (incarnation, files)
) STRICT;

CREATE TABLE gains (
    incarnation INTEGER NOT NULL,
    user_id     TEXT    NOT NULL,
    day         INTEGER NOT NULL,
    gained      INTEGER NOT NULL,
    PRIMARY KEY (incarnation, user_id, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX gains_day ON gains ((incarnation + 0), (day + 0));

CREATE TABLE periods (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    incarnation INTEGER NOT NULL,
    id          TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    first_day   INTEGER NOT NULL,
    end_day     INTEGER NOT NULL,
    begins_ms   INTEGER NOT NULL,
    ends_ms     INTEGER NOT NULL,
    members     INTEGER NOT NULL DEFAULT 0,
    gained      INTEGER NOT NULL DEFAULT 0,
    board       INTEGER NOT NULL CHECK (board IN (0, 1)),
    settings    TEXT,
    closed_ms   INTEGER NOT NULL,
    announced   INTEGER NOT NULL DEFAULT 0 CHECK (announced IN (0, 1)),
    trimmed     INTEGER NOT NULL DEFAULT 0 CHECK (trimmed IN (0, 1)),
    UNIQUE (incarnation, id)
) STRICT;

CREATE INDEX periods_kind ON periods ((incarnation + 0), kind, first_day);
CREATE INDEX periods_boards ON periods ((incarnation + 0), begins_ms DESC, ends_ms) WHERE board AND members > 0;
CREATE INDEX periods_unannounced ON periods (number) WHERE board AND members > 0 AND NOT announced;
CREATE INDEX periods_old ON periods (ends_ms) WHERE NOT trimmed;

CREATE TABLE standings (
    period        INTEGER NOT NULL,
    rank          INTEGER NOT NULL,
    user_id       TEXT    NOT NULL,
    gained        INTEGER NOT NULL,
    xp            INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    updated_ms    INTEGER,
    avatar        TEXT,
    discriminator TEXT    NOT NULL,
    username      TEXT    NOT NULL,
    global_name   TEXT,
    accent_colour TEXT,
    PRIMARY KEY (period, rank)
) STRICT, WITHOUT ROWID;

CREATE INDEX standings_user ON standings (user_id, (period + 0));

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
CREATE INDEX requests_open ON requests ((incarnation + 0), rev) WHERE rev IS NOT NULL;

CREATE TABLE audit (
    log        INTEGER NOT NULL,
    at_ms      INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    actor_kind TEXT    NOT NULL,
    actor_id   TEXT    NOT NULL,
    actor_name TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    user_id    TEXT    NOT NULL,
    before     TEXT    NOT NULL,
    after      TEXT    NOT NULL,
    members    INTEGER,
    reason     TEXT    NOT NULL,
    request_id TEXT    NOT NULL,
    PRIMARY KEY (log, at_ms, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_user ON audit (user_id, (log + 0), at_ms, number) WHERE user_id <> '';
CREATE INDEX audit_actor ON audit (actor_id, (log - 0), at_ms, number);
CREATE INDEX audit_old ON audit ((at_ms + 0));
CREATE INDEX audit_texts ON audit ((log + 0), at_ms, number) WHERE reason <> '' OR action IN ('settings', 'directory');

CREATE TABLE erasures (
    number    INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    hash      TEXT    NOT NULL UNIQUE,
    erased_ms INTEGER,
    user_id   TEXT
) STRICT;

CREATE INDEX erasures_open ON erasures (number) WHERE user_id IS NOT NULL;

CREATE TABLE erasure_secret (
    only_row INTEGER NOT NULL PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
    secret   BLOB    NOT NULL
) STRICT;
INSERT INTO erasure_secret (secret) VALUES (randomblob(32));

CREATE TABLE api_keys (
    id           TEXT PRIMARY KEY,
    hash         BLOB    NOT NULL CHECK (length(hash) = 32),
    name         TEXT    NOT NULL,
    owner_id     TEXT    NOT NULL,
    permission   TEXT    NOT NULL,
    created_ms   INTEGER NOT NULL,
    expires_ms   INTEGER,
    rate_limit   INTEGER,
    last_used_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_keys_owner ON api_keys (owner_id);

CREATE TABLE key_grants (
    key_id     TEXT NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    guild_id   TEXT NOT NULL REFERENCES guilds ON DELETE CASCADE,
    granted_by TEXT NOT NULL,
    PRIMARY KEY (key_id, guild_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX key_grants_guild ON key_grants (guild_id);

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

CREATE INDEX key_use_hour ON key_use ((hour + 0));

CREATE TABLE change_log (
    version   INTEGER PRIMARY KEY,
    kind      TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    logged_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE change_counter (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    version  INTEGER NOT NULL
) STRICT;
INSERT INTO change_counter (only_row, version) VALUES (1, 0);

CREATE TABLE leases (
    name       TEXT PRIMARY KEY,
    holder     TEXT    NOT NULL,
    fence      INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    last       INTEGER NOT NULL CHECK (last IN (0, 1))
) STRICT, WITHOUT ROWID;
