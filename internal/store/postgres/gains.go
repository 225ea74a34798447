package postgres

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

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
	if err := gone.drop(ctx, tx, `m.epoch = r.epoch AND m.rev = r.rev AND m.deleted = r.deleted`); err != nil {
		return err
	}
	return gains.upsert(ctx, tx, `m.epoch = r.epoch AND m.rev = r.rev`, `old.gained IS DISTINCT FROM r.gained`)
}

// raiseGains writes those gains of merged rows that are higher than what is archived.
func raiseGains(ctx context.Context, tx pgx.Tx, b snapshot.Batch) error {
	var gains gainColumns
	for i := range b.Rows {
		gains.addAll(&b, &b.Rows[i])
	}
	return gains.upsert(ctx, tx, `true`, `(old.gained < r.gained) IS NOT FALSE`)
}

// buryGains deletes the gains of those rows' members who have a tombstone.
func buryGains(ctx context.Context, tx pgx.Tx, b snapshot.Batch) error {
	var gone gainColumns
	for i := range b.Rows {
		if b.Rows[i].Deleted {
			gone.add(&b, &b.Rows[i], 0, 0)
		}
	}
	return gone.drop(ctx, tx, `m.deleted`)
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

// Below, LIMIT and OFFSET keep the planner from joining whole tables by statistics that are missing or old: each row is looked up by its index.

// drop deletes all gains of members that meet the condition, which names the member m and the row r.
func (c *gainColumns) drop(ctx context.Context, tx pgx.Tx, condition string) error {
	if len(c.users) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		DELETE FROM gains WHERE ctid = ANY (ARRAY(
			SELECT g.place
			FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::boolean[]) AS r (incarnation, user_id, epoch, rev, deleted)
			CROSS JOIN LATERAL (
				SELECT FROM members m WHERE m.incarnation = r.incarnation AND m.user_id = r.user_id AND `+condition+` LIMIT 1) m
			CROSS JOIN LATERAL (
				SELECT ctid AS place FROM gains WHERE gains.incarnation = r.incarnation AND gains.user_id = r.user_id OFFSET 0) g))`,
		c.incarnations, c.users, c.epochs, c.revs, c.deleted)
	return err
}

// upsert writes gains of members that are there, m, where the condition on them holds and the gain, r, changes the archived one, old. What does
// not change it is not in the INSERT at all: a conflict would lock its row.
func (c *gainColumns) upsert(ctx context.Context, tx pgx.Tx, condition, changes string) error {
	if len(c.users) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO gains (incarnation, user_id, day, gained)
		SELECT r.incarnation, r.user_id, r.day, r.gained
		FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::integer[], $6::bigint[])
			AS r (incarnation, user_id, epoch, rev, day, gained)
		CROSS JOIN LATERAL (
			SELECT FROM members m WHERE m.incarnation = r.incarnation AND m.user_id = r.user_id AND NOT m.deleted AND `+condition+` LIMIT 1) m
		LEFT JOIN LATERAL (
			SELECT g.gained FROM gains g WHERE g.incarnation = r.incarnation AND g.user_id = r.user_id AND g.day = r.day LIMIT 1) old ON true
		WHERE `+changes+`
		ON CONFLICT (incarnation, user_id, day) DO UPDATE SET gained = excluded.gained`,
		c.incarnations, c.users, c.epochs, c.revs, c.days, c.gained)
	return refusal(err)
}
