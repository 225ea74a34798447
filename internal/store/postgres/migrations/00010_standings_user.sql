-- A user's row on a closed board is found without going through the board. CONCURRENTLY lets periods close meanwhile; a build that was cut off
-- leaves an index that is not valid, so what there is of it is dropped first.

-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS standings_user;
CREATE INDEX CONCURRENTLY standings_user ON standings (user_id, period);

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS standings_user;
