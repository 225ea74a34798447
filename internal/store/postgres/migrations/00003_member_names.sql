-- Members are found by the beginning of a name. CONCURRENTLY lets replicas of the version before write on; a build that was cut
-- off leaves an index that is not valid, so what there is of it is dropped first. lower in "C" knows the letters of ASCII only,
-- so that the index means the same on every server and after every upgrade of its libraries. A name that stays as it is leaves
-- the index alone, whatever else of the member changes.

-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS members_username;
CREATE INDEX CONCURRENTLY members_username ON members (incarnation, lower(username COLLATE "C"))
    WHERE NOT deleted AND username <> '';
DROP INDEX CONCURRENTLY IF EXISTS members_global_name;
CREATE INDEX CONCURRENTLY members_global_name ON members (incarnation, lower(global_name COLLATE "C"))
    WHERE NOT deleted AND global_name <> '';

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS members_username;
DROP INDEX CONCURRENTLY IF EXISTS members_global_name;
