-- Whether the holder of a lease ends: others that end wait for it.

-- +goose Up
ALTER TABLE leases ADD COLUMN last INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE leases DROP COLUMN last;
