-- How an import is written: plan is the SHA-256 of its calls, empty when the caller gave none.

-- +goose Up
ALTER TABLE imports ADD COLUMN IF NOT EXISTS plan text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE imports DROP COLUMN IF EXISTS plan;
