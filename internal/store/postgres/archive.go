// Package postgres is the archive on Postgres 15 or newer: the tables, the connections and the search of names of what package sqlarchive reads and
// writes. Package sqlite is the same for embedded mode.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/leaderboard"
)

// operationTime bounds every operation with its wait for a connection, since the writer's contexts have no deadline. It is longer than the
// server's own limit on a statement. Only a test changes it.
var operationTime = 40 * time.Second

// Archive is the archive; its methods promise what the interfaces say that they implement. It is safe for concurrent use. An error that
// no interface names means that the server could not be asked, or that its answer was lost and a change may have happened.
type Archive struct {
	sqlarchive.Catalog
	pool *pgxpool.Pool
}

var dialect = sqlarchive.Dialect{
	Name:      "postgres",
	AllowSlow: fmt.Sprintf(`SET LOCAL statement_timeout = %d`, sqlarchive.SlowTime.Milliseconds()),
	Redact:    redact,
	Bound:     bounded,
	BoundSlow: func(ctx context.Context, operation string) (context.Context, context.CancelFunc) {
		return context.WithTimeout(named(ctx, operation), sqlarchive.SlowTime)
	},
}

// redact keeps only the code of an error about the data, an invalid value or a broken constraint (the classes 22 and 23 of SQLSTATE): the server's message
// may repeat the data.
func redact(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) || !strings.HasPrefix(e.Code, "22") && !strings.HasPrefix(e.Code, "23") {
		return err
	}
	return fmt.Errorf("the server refuses the data: SQLSTATE %s", e.Code)
}

// Ping reports whether the server answers.
func (a *Archive) Ping(ctx context.Context) error {
	ctx, cancel := bounded(ctx, "ping")
	defer cancel()
	return wrap("ping", a.pool.Ping(ctx))
}

// Connections says how many connections are in use, and how many are open beside them.
func (a *Archive) Connections() (inUse, idle int) {
	stat := a.pool.Stat()
	return int(stat.AcquiredConns()), int(stat.IdleConns())
}

// Close closes the connections; it waits for those that are in use.
func (a *Archive) Close() {
	_ = a.Reader.Close() // it holds no connection of its own
	a.pool.Close()
}

// bounded is the context of an operation, which its queries are counted under.
func bounded(ctx context.Context, operation string) (context.Context, context.CancelFunc) {
	return context.WithTimeout(named(ctx, operation), operationTime)
}

func wrap(op string, err error) error { return sqlarchive.Wrap("postgres", op, err) }

// namesTime ends a search at the server, in milliseconds: it needs a fraction of it, and anybody can search.
const namesTime = `SET LOCAL statement_timeout = 2000`

// findNames finds members with words that begin with each of $3, those who are present first: who came back may not be archived yet. It looks at
// words that are at least $4 and below $5. Ranges and not LIKE: nothing in a text is special, and a statement that is prepared once for all texts
// still uses the index. Who is hidden is left out before the members are read, or the planner would read them all.
const findNames = `
	WITH found AS MATERIALIZED (
		SELECT user_id FROM member_words WHERE incarnation = $1 AND word >= $4 AND word < $5 LIMIT $6)
	SELECT (SELECT count(*) FROM found) >= $6, ARRAY(
		SELECT m.user_id
		FROM (SELECT user_id FROM found EXCEPT SELECT user_id FROM hidden_members WHERE incarnation = $1) AS f
			JOIN members m ON m.incarnation = $1 AND m.user_id = f.user_id
		WHERE NOT m.deleted AND NOT EXISTS (SELECT FROM unnest($3::text[]) AS beginning WHERE position(beginning IN ' ' || m.words) = 0)
		ORDER BY m.present DESC, m.xp DESC, m.user_id DESC LIMIT $2)`

// findAll looks at every member: less than 1 µs for each, where one that is looked up by the index of words takes 10.
const findAll = `
	SELECT false, ARRAY(
		SELECT m.user_id FROM members m
		WHERE m.incarnation = $1 AND NOT m.deleted AND m.user_id NOT IN (SELECT user_id FROM hidden_members WHERE incarnation = $1)
			AND NOT EXISTS (SELECT FROM unnest($3::text[]) AS beginning WHERE position(beginning IN ' ' || m.words) = 0)
		ORDER BY m.present DESC, m.xp DESC, m.user_id DESC LIMIT $2)`

// FindNames implements leaderboard.Names.
func (a *Archive) FindNames(ctx context.Context, g leaderboard.GuildRef, q leaderboard.Query, limits leaderboard.NameLimits) (found leaderboard.Candidates, err error) {
	sql, args := findAll, []any{int64(g.Incarnation), limits.Users, q.Beginnings()}
	if limits.Words > 0 {
		from, before := q.Longest()
		sql, args = findNames, append(args, from, before, limits.Words)
	}
	ctx, cancel := bounded(ctx, "find_names")
	defer cancel()
	err = pgx.BeginFunc(ctx, a.pool, func(tx pgx.Tx) error {
		// Who asked may be gone long before the server hears of it.
		if _, err := tx.Exec(ctx, namesTime); err != nil {
			return err
		}
		return tx.QueryRow(ctx, sql, args...).Scan(&found.Many, &found.Users)
	})
	return found, wrap("find_names", err)
}
