-- The guilds that somebody owns or administers are found without reading all. A build that was cut off leaves an index that is not valid, so what
-- there is of it is dropped first.

-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS guilds_owner;
CREATE INDEX CONCURRENTLY guilds_owner ON guilds ((settings ->> 'ownerId'));
DROP INDEX CONCURRENTLY IF EXISTS guilds_admins;
CREATE INDEX CONCURRENTLY guilds_admins ON guilds USING gin ((settings -> 'adminIds') jsonb_path_ops);

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS guilds_admins;
DROP INDEX CONCURRENTLY IF EXISTS guilds_owner;
