package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/usecase/snapshot"
)

// The user data of an archived m and of a salvaged entry, excluded: the one that was updated last, but known rather than not.
const (
	mKnown        = `(m.discriminator <> '' OR m.username <> '' OR coalesce(m.avatar, m.global_name, m.accent_colour) IS NOT NULL)`
	excludedKnown = `(excluded.discriminator <> '' OR excluded.username <> ''
		OR coalesce(excluded.avatar, excluded.global_name, excluded.accent_colour) IS NOT NULL)`
	ifItsUser = `CASE WHEN ` + excludedKnown + ` AND (NOT ` + mKnown + `
		OR coalesce(excluded.updated_ms, 0) > coalesce(m.updated_ms, 0)) THEN excluded.`
)

// merge makes one entry of an archived one, m, and one of a live store at epoch $15, which knew of what was archived up to rev $16. A tombstone holds
// nothing, so to merge with it is to replace it. greatest passes over nulls.
const merge = `
	epoch = excluded.epoch, rev = excluded.rev, written_ms = excluded.written_ms, deleted = false,
	xp = greatest(m.xp, excluded.xp), message_count = greatest(m.message_count, excluded.message_count),
	updated_ms = greatest(m.updated_ms, excluded.updated_ms), cooldown_ms = greatest(m.cooldown_ms, excluded.cooldown_ms),
	avatar = ` + ifItsUser + `avatar ELSE m.avatar END,
	discriminator = ` + ifItsUser + `discriminator ELSE m.discriminator END,
	username = ` + ifItsUser + `username ELSE m.username END,
	global_name = ` + ifItsUser + `global_name ELSE m.global_name END,
	accent_colour = ` + ifItsUser + `accent_colour ELSE m.accent_colour END
	WHERE NOT m.deleted OR (m.epoch, m.rev) <= ($15::bigint, $16::bigint)`

// bury makes tombstones of the members $2 that were not written after rev $4 of epoch $3.
const bury = `
	UPDATE members SET epoch = $3, rev = $5, written_ms = ` + nowMS + `, deleted = true,
		xp = 0, message_count = 0, updated_ms = NULL, cooldown_ms = NULL,
		avatar = NULL, discriminator = '', username = '', global_name = NULL, accent_colour = NULL
	WHERE incarnation = $1 AND user_id = ANY ($2::text[]) AND NOT deleted AND (epoch, rev) <= ($3::bigint, $4::bigint)`

// Salvage implements snapshot.Archive. All rows are merged in one statement.
func (a *Archive) Salvage(ctx context.Context, from snapshot.State, b snapshot.Batch) error {
	if err := b.Check(); err != nil {
		return wrap("salvage members", err)
	}
	return a.inTx(ctx, "salvage", func(ctx context.Context, tx pgx.Tx) error {
		state, err := lockState(ctx, tx, b.Guild)
		if err != nil {
			return err
		}
		if state != from {
			return snapshot.ErrStale
		}
		written := snapshot.Batch{Guild: b.Guild, Epoch: from.Epoch, Rev: from.Archived, Rows: b.Entries()}
		if err := upsert(ctx, tx, []snapshot.Batch{written}, merge, b.Epoch, b.Known); err != nil {
			return err
		}
		gone := b.Gone()
		if len(gone) == 0 || from.Epoch != b.Epoch {
			return nil
		}
		_, err = tx.Exec(ctx, bury, int64(b.Guild.Incarnation), gone, b.Epoch, b.Known, from.Archived)
		return err
	})
}
