-- The audit log. A guild's records are of one log, whose number is the guild's first incarnation: restores and resets keep it. All of it are
-- additions with defaults, so that a service of the version before works beside this one.

-- +goose Up
CREATE TABLE IF NOT EXISTS audit (
    log        bigint NOT NULL,
    at_ms      bigint NOT NULL,
    number     bigint NOT NULL, -- within the millisecond
    actor_kind text   NOT NULL,
    actor_id   text   NOT NULL,
    actor_name text   NOT NULL,
    action     text   NOT NULL,
    user_id    text   NOT NULL, -- empty for none, as are the next two
    before     text   NOT NULL, -- JSON
    after      text   NOT NULL,
    members    bigint,
    reason     text   NOT NULL,
    request_id text   NOT NULL,
    PRIMARY KEY (log, at_ms, number)
);

CREATE INDEX IF NOT EXISTS audit_user ON audit (user_id, log, at_ms, number) WHERE user_id <> '';
CREATE INDEX IF NOT EXISTS audit_actor ON audit (actor_id, log, at_ms, number);
CREATE INDEX IF NOT EXISTS audit_old ON audit (at_ms);

ALTER TABLE guilds ADD COLUMN IF NOT EXISTS audit_log bigint; -- null: the incarnation
ALTER TABLE guilds ADD COLUMN IF NOT EXISTS audited_ms bigint NOT NULL DEFAULT 0; -- the newest record that the archive made itself
CREATE INDEX IF NOT EXISTS guilds_audit_log ON guilds (audit_log) WHERE audit_log IS NOT NULL;

-- +goose Down
DROP INDEX guilds_audit_log;
ALTER TABLE guilds DROP COLUMN audited_ms, DROP COLUMN audit_log;
DROP TABLE audit;
