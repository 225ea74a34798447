package postgres

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// replaceGains writes the gains of rows that were written just now, or by the same batch before. Batches without gains cost nothing, and their
// deletions one statement.
func replaceGains(ctx context.Context, tx pgx.Tx, batches []snapshot.Batch) error {
	var gone, gains gainColumns
	for i := range batches {
		b := &batches[i]
		for j := range b.Rows {
			r := &b.Rows[j]
			if r.Deleted || r.Fresh {
				gone.add(b, r, 0, 0)
			}
			if !r.Deleted {
				gains.addAll(b, r)
			}
		}
	}
	if len(gone.users) > 0 {
		_, err := tx.Exec(ctx, `
			DELETE FROM gains g
			USING unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::boolean[]) AS r (incarnation, user_id, epoch, rev, deleted)
			JOIN members m USING (incarnation, user_id, epoch, rev, deleted)
			WHERE g.incarnation = r.incarnation AND g.user_id = r.user_id`,
			plannedNow, gone.incarnations, gone.users, gone.epochs, gone.revs, gone.deleted)
		if err != nil {
			return err
		}
	}
	return gains.upsert(ctx, tx, `m.epoch = r.epoch AND m.rev = r.rev AND old.gained IS DISTINCT FROM r.gained`)
}

// raiseGains writes those gains of merged rows that are higher than what is archived.
func raiseGains(ctx context.Context, tx pgx.Tx, b snapshot.Batch) error {
	var gains gainColumns
	for i := range b.Rows {
		gains.addAll(&b, &b.Rows[i])
	}
	return gains.upsert(ctx, tx, `(old.gained < r.gained) IS NOT FALSE`)
}

// dropGains deletes the gains of those users who have a tombstone.
func dropGains(ctx context.Context, tx pgx.Tx, g leaderboard.GuildRef, users []id.User) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM gains g USING members m
		WHERE m.incarnation = $1 AND m.user_id = ANY ($2::text[]) AND m.deleted AND g.incarnation = m.incarnation AND g.user_id = m.user_id`,
		plannedNow, int64(g.Incarnation), users)
	return err
}

// gainColumns are gains, each with its row's epoch and rev, as one array for each column.
type gainColumns struct {
	incarnations, epochs, revs, gained []int64
	users                              []string
	days                               []int32
	deleted                            []bool
}

func (c *gainColumns) addAll(b *snapshot.Batch, r *snapshot.Row) {
	for _, g := range r.Gains {
		c.add(b, r, int32(g.Day), g.Gained)
	}
}

func (c *gainColumns) add(b *snapshot.Batch, r *snapshot.Row, day int32, gained int64) {
	c.incarnations, c.users, c.deleted = append(c.incarnations, int64(b.Guild.Incarnation)), append(c.users, string(r.UserID)), append(c.deleted, r.Deleted)
	c.epochs, c.revs = append(c.epochs, b.Epoch), append(c.revs, cmp.Or(b.AsOf, b.Rev))
	c.days, c.gained = append(c.days, day), append(c.gained, gained)
}

// upsert writes gains of members that are there, m, where the condition on them, on the archived gain, old, and on the new one, r, holds. What
// does not change is not in the INSERT at all: a conflict would lock its row.
func (c *gainColumns) upsert(ctx context.Context, tx pgx.Tx, condition string) error {
	if len(c.users) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO gains (incarnation, user_id, day, gained)
		SELECT r.incarnation, r.user_id, r.day, r.gained
		FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::integer[], $6::bigint[])
			AS r (incarnation, user_id, epoch, rev, day, gained)
		JOIN members m ON m.incarnation = r.incarnation AND m.user_id = r.user_id AND NOT m.deleted
		LEFT JOIN gains old ON old.incarnation = r.incarnation AND old.user_id = r.user_id AND old.day = r.day
		WHERE `+condition+`
		ON CONFLICT (incarnation, user_id, day) DO UPDATE SET gained = excluded.gained`,
		plannedNow, c.incarnations, c.users, c.epochs, c.revs, c.days, c.gained)
	return refusal(err)
}
