-- Members who are not present, as in package postgres.

-- +goose Up
ALTER TABLE members ADD COLUMN present INTEGER NOT NULL DEFAULT 1 CHECK (present IN (0, 1));

-- +goose Down
ALTER TABLE members DROP COLUMN present;
