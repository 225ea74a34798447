-- Members are found by the beginning of a name. SQLite's lower knows the letters of ASCII only, as that of package postgres does.

-- +goose Up
CREATE INDEX members_username ON members (incarnation, lower(username)) WHERE NOT deleted AND username <> '';
CREATE INDEX members_global_name ON members (incarnation, lower(global_name)) WHERE NOT deleted AND global_name <> '';

-- +goose Down
DROP INDEX members_username;
DROP INDEX members_global_name;
