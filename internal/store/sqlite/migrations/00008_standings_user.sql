-- A user's row on a closed board is found without going through the board.

-- +goose Up
CREATE INDEX standings_user ON standings (user_id, period);

-- +goose Down
DROP INDEX standings_user;
