-- The audit log, as in package postgres.

-- +goose Up
CREATE TABLE IF NOT EXISTS audit (
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

CREATE INDEX IF NOT EXISTS audit_user ON audit (user_id, log, at_ms, number) WHERE user_id <> '';
CREATE INDEX IF NOT EXISTS audit_actor ON audit (actor_id, log, at_ms, number);
CREATE INDEX IF NOT EXISTS audit_old ON audit (at_ms);

ALTER TABLE guilds ADD COLUMN audit_log INTEGER;
ALTER TABLE guilds ADD COLUMN audited_ms INTEGER NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS guilds_audit_log ON guilds (audit_log) WHERE audit_log IS NOT NULL;

-- +goose Down
DROP INDEX guilds_audit_log;
ALTER TABLE guilds DROP COLUMN audited_ms;
ALTER TABLE guilds DROP COLUMN audit_log;
DROP TABLE audit;
