package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"levelboard/internal/leaderboard"
	"levelboard/internal/snapshot"
)

// WriteBatch writes the rows, up to 5000, in one statement of one transaction. snapshot.ErrLeaseLost or snapshot.ErrStale,
// with nothing written, when another replica took the lease, the guild's incarnation or epoch is another one, or more
// is archived than b.Known; snapshot.ErrBadRow when a row itself was refused.
func (a *Archive) WriteBatch(ctx context.Context, l snapshot.Lease, b snapshot.Batch) error {
	return a.writeBatch(ctx, l, b, func(ctx context.Context, tx pgx.Tx, b snapshot.Batch) error {
		return upsert(ctx, tx, b, replaceOlder)
	})
}

// writeBatch does all of WriteBatch around put, which writes the rows.
func (a *Archive) writeBatch(
	ctx context.Context, l snapshot.Lease, b snapshot.Batch, put func(ctx context.Context, tx pgx.Tx, b snapshot.Batch) error,
) error {
	if err := b.Check(); err != nil {
		return wrap("write members", err)
	}
	return a.inTx(ctx, "write members", func(ctx context.Context, tx pgx.Tx) error {
		state, err := lockState(ctx, tx, b.Guild)
		if err != nil {
			return err
		}
		if err := checkLease(ctx, tx, l); err != nil {
			return err
		}
		if state.Epoch != b.Epoch || state.Archived > b.Known {
			return snapshot.ErrStale
		}
		if err := put(ctx, tx, b); err != nil {
			return err
		}
		if state.Archived >= b.Rev {
			return nil
		}
		_, err = tx.Exec(ctx, `UPDATE guilds SET archived = $2 WHERE id = $1`, string(b.Guild.ID), b.Rev)
		return err
	})
}

// lockState reads a guild's state and keeps it as it is until the transaction ends.
func lockState(ctx context.Context, tx pgx.Tx, g leaderboard.GuildRef) (snapshot.State, error) {
	return scanState(tx.QueryRow(ctx, `
		SELECT epoch, archived FROM guilds WHERE id = $1 AND incarnation = $2 FOR NO KEY UPDATE`,
		string(g.ID), int64(g.Incarnation)))
}

// replaceOlder is what a batch of the writer does with a member that is archived already, m.
const replaceOlder = `
	epoch = excluded.epoch, rev = excluded.rev, written_ms = excluded.written_ms,
	xp = excluded.xp, message_count = excluded.message_count,
	updated_ms = excluded.updated_ms, cooldown_ms = excluded.cooldown_ms,
	avatar = excluded.avatar, discriminator = excluded.discriminator, username = excluded.username,
	global_name = excluded.global_name, accent_colour = excluded.accent_colour, deleted = excluded.deleted
	WHERE (m.epoch, m.rev) < (excluded.epoch, excluded.rev)`

// upsert inserts the rows, and where there is one already does what conflict says, with more as the arguments from $15 on.
func upsert(ctx context.Context, tx pgx.Tx, b snapshot.Batch, conflict string, more ...any) error {
	if len(b.Rows) == 0 {
		return nil
	}
	c := columnsOf(b.Rows)
	_, err := tx.Exec(ctx, `
		INSERT INTO members AS m (incarnation, epoch, rev, written_ms, user_id, xp, message_count, updated_ms, cooldown_ms,
			avatar, discriminator, username, global_name, accent_colour, deleted)
		SELECT $1, $2, $3, `+nowMS+`, r.*
		FROM unnest($4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
			$9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::boolean[]) AS r
		ON CONFLICT (incarnation, user_id) DO UPDATE SET`+conflict,
		append([]any{
			int64(b.Guild.Incarnation), b.Epoch, b.Rev,
			c.users, c.xp, c.messages, c.updated, c.cooldown,
			c.avatars, c.discriminators, c.usernames, c.globalNames, c.accentColours, c.deleted,
		}, more...)...)
	return refusal(err)
}

// notNull is not about the data: no column that is known here gets a null that it does not take.
const notNull = "23502"

// refusal makes snapshot.ErrBadRow of an error that is about the data, an invalid value or a broken constraint (the classes
// 22 and 23 of SQLSTATE), and leaves any other alone. The server's message may repeat the data, so only its code is kept.
func refusal(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code == notNull || !strings.HasPrefix(e.Code, "22") && !strings.HasPrefix(e.Code, "23") {
		return err
	}
	return fmt.Errorf("%w: SQLSTATE %s", snapshot.ErrBadRow, e.Code)
}

// columns are rows turned into one array for each column, so that a batch of any size is one prepared statement.
type columns struct {
	users                               []string
	xp, messages                        []int64
	updated, cooldown                   []*int64
	discriminators, usernames           []string
	avatars, globalNames, accentColours []*string
	deleted                             []bool
}

func columnsOf(rows []snapshot.Row) *columns {
	n := len(rows)
	c := &columns{
		users: make([]string, n), xp: make([]int64, n), messages: make([]int64, n),
		updated: make([]*int64, n), cooldown: make([]*int64, n),
		discriminators: make([]string, n), usernames: make([]string, n),
		avatars: make([]*string, n), globalNames: make([]*string, n), accentColours: make([]*string, n),
		deleted: make([]bool, n),
	}
	for i := range rows {
		r := &rows[i]
		c.users[i] = string(r.UserID)
		if r.Deleted {
			c.deleted[i] = true
			continue
		}
		c.xp[i], c.messages[i] = int64(r.XP), r.MessageCount
		c.updated[i], c.cooldown[i] = millis(r.LastUpdated), millis(r.CooldownUntil)
		c.discriminators[i], c.usernames[i] = r.User.Discriminator, r.User.Username
		c.avatars[i], c.globalNames[i], c.accentColours[i] = r.User.Avatar, r.User.GlobalName, r.User.AccentColour
	}
	return c
}
