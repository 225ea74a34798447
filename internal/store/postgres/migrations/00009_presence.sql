-- Members who are not present. An addition with a default, so that a service of the version before goes on beside this one.

-- +goose Up
ALTER TABLE members ADD COLUMN IF NOT EXISTS present boolean NOT NULL DEFAULT true;

-- +goose Down
ALTER TABLE members DROP COLUMN IF EXISTS present;
