-- How an import is written, as in package postgres.

-- +goose Up
ALTER TABLE imports ADD COLUMN plan TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE imports DROP COLUMN plan;
