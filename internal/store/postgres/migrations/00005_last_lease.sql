-- Whether the holder of a lease ends: others that end wait for it.

-- +goose Up
ALTER TABLE leases ADD COLUMN IF NOT EXISTS last boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE leases DROP COLUMN last;
