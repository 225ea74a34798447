-- The records of the audit log that may name a user in their text, as in package postgres.

-- +goose Up
CREATE INDEX IF NOT EXISTS audit_texts ON audit (log, at_ms, number) WHERE reason <> '' OR action IN ('settings', 'directory');

-- +goose Down
DROP INDEX audit_texts;
