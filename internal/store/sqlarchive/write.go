package sqlarchive

import (
	"cmp"
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// WriteBatches implements snapshot.Archive. Each table is written by one statement, from a JSON array.
func (c *Catalog) WriteBatches(ctx context.Context, l lease.Lease, batches []snapshot.Batch) (errs []error, err error) {
	errs = make([]error, len(batches))
	err = c.inTx(ctx, "write_batch", func(t *tx) {
		states := t.lockedStates(batches)
		t.holds(l)
		var fit []snapshot.Batch
		for i := range batches {
			if errs[i] = refused(&batches[i], states); errs[i] == nil {
				fit = append(fit, batches[i])
			}
		}
		t.writeBatches(fit)
	})
	return errs, err
}

// lockedStates locks the guilds of batches, in the order of their ids, and returns their states.
func (t *tx) lockedStates(batches []snapshot.Batch) map[leaderboard.GuildRef]snapshot.State {
	guilds := make([]id.Guild, len(batches))
	for i := range batches {
		guilds[i] = batches[i].Guild.ID
	}
	return statesOf(readAll(t, scanStateOf, `
		SELECT id, incarnation, epoch, archived, verified FROM guilds
		WHERE id IN (SELECT value ->> 0 FROM jsonb_each($1)) ORDER BY id FOR NO KEY UPDATE`, jsonList(guilds)))
}

// refused returns why a batch is not written.
func refused(b *snapshot.Batch, states map[leaderboard.GuildRef]snapshot.State) error {
	state, exists := states[b.Guild]
	switch {
	case !exists || state.Epoch != b.Epoch || state.Archived > b.Known:
		return snapshot.ErrStale
	case state.Archived < b.Archived:
		return snapshot.ErrArchiveBehind
	}
	return nil
}

func (t *tx) writeBatches(batches []snapshot.Batch) {
	var rows []memberRow
	revs := make([][]any, len(batches))
	for i := range batches {
		b := &batches[i]
		revs[i] = []any{b.Guild.ID, b.Rev}
		for _, r := range b.Rows {
			rows = append(rows, memberRow{incarnation: int64(b.Guild.Incarnation), epoch: b.Epoch, rev: cmp.Or(b.AsOf, b.Rev), Row: r})
		}
	}
	t.writeRows(rows, false)
	t.writeRecords(batches)
	t.keepRecords(batches)
	t.exec(`
		UPDATE guilds SET archived = CASE WHEN archived < b.rev THEN b.rev ELSE archived END, verified = 0
		FROM (SELECT value ->> 0 AS id, CAST(value ->> 1 AS bigint) AS rev FROM jsonb_each($1)) AS b WHERE guilds.id = b.id`, jsonRows(revs))
}

// memberRow is a row of members that is written.
type memberRow struct {
	incarnation, epoch, rev int64
	snapshot.Row
}

// writeRows writes members and their gains. Merged rows are complete: they replace the archived row and its lower gains by day. Other rows replace
// older ones, and the gains of their days.
func (t *tx) writeRows(rows []memberRow, merged bool) {
	if len(rows) == 0 {
		return
	}
	type member struct {
		incarnation int64
		user        id.User
	}
	of := make([][]any, len(rows))
	for i := range rows {
		r := &rows[i]
		if r.Deleted {
			r.Row = snapshot.Row{Deleted: true, Member: leaderboard.Member{UserID: r.UserID}}
		}
		u := &r.User
		of[i] = []any{
			r.incarnation, r.epoch, r.rev, r.UserID, r.XP, r.MessageCount, inMillis(r.LastUpdated), inMillis(r.CooldownUntil),
			u.Avatar, u.Discriminator, u.Username, u.GlobalName, u.AccentColour, r.Deleted, !r.Absent, leaderboard.Words(*u),
		}
	}
	written := readAll(t, columns(func(m *member) []any { return []any{&m.incarnation, &m.user} }), `
		INSERT INTO members AS m (incarnation, epoch, rev, user_id, xp, message_count, updated_ms, cooldown_ms,
			avatar, discriminator, username, global_name, accent_colour, deleted, present, words, written_ms)
		SELECT CAST(value ->> 0 AS bigint), CAST(value ->> 1 AS bigint), CAST(value ->> 2 AS bigint), value ->> 3,
			CAST(value ->> 4 AS bigint), CAST(value ->> 5 AS bigint), CAST(value ->> 6 AS bigint), CAST(value ->> 7 AS bigint),
			value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, CAST(value ->> 13 AS boolean), CAST(value ->> 14 AS boolean),
			value ->> 15, now_ms()
		FROM jsonb_each($1) WHERE true
		ON CONFLICT (incarnation, user_id) DO UPDATE SET
			epoch = excluded.epoch, rev = excluded.rev, xp = excluded.xp, message_count = excluded.message_count,
			updated_ms = excluded.updated_ms, cooldown_ms = excluded.cooldown_ms,
			avatar = excluded.avatar, discriminator = excluded.discriminator, username = excluded.username,
			global_name = excluded.global_name, accent_colour = excluded.accent_colour,
			deleted = excluded.deleted, present = excluded.present, words = excluded.words, written_ms = excluded.written_ms
		WHERE $2 OR (m.epoch, m.rev) < (excluded.epoch, excluded.rev)
		RETURNING incarnation, user_id`, jsonRows(of), merged)
	is := make(map[member]bool, len(written))
	for _, m := range written {
		is[m] = true
	}
	var gone, gains [][]any
	for i := range rows {
		r := &rows[i]
		if !is[member{r.incarnation, r.UserID}] {
			continue
		}
		if r.Deleted || r.Fresh && !merged {
			gone = append(gone, []any{r.incarnation, r.UserID})
		}
		for _, g := range r.Gains {
			gains = append(gains, []any{r.incarnation, r.UserID, int64(g.Day), g.Gained})
		}
	}
	t.writeGains(gone, gains, merged)
}

// writeGains deletes all gains of the members of gone, and then writes gains, if raise is set only what is higher. What changes nothing is not in the
// INSERT at all: a conflict would lock its row. The subquery is read by the primary key, whatever the server's statistics say.
func (t *tx) writeGains(gone, gains [][]any, raise bool) {
	if len(gone) > 0 {
		t.exec(`DELETE FROM gains WHERE (incarnation, user_id) IN (SELECT CAST(value ->> 0 AS bigint), value ->> 1 FROM jsonb_each($1))`, jsonRows(gone))
	}
	if len(gains) == 0 {
		return
	}
	t.exec(`
		WITH r AS MATERIALIZED (
			SELECT CAST(value ->> 0 AS bigint) AS incarnation, value ->> 1 AS user_id, CAST(value ->> 2 AS integer) AS day,
				CAST(value ->> 3 AS bigint) AS gained FROM jsonb_each($1))
		INSERT INTO gains (incarnation, user_id, day, gained)
		SELECT incarnation, user_id, day, gained FROM r
		WHERE coalesce((
			SELECT g.gained < r.gained OR NOT $2 AND g.gained > r.gained FROM gains AS g
			WHERE g.incarnation = r.incarnation AND g.user_id = r.user_id AND g.day = r.day), true)
		ON CONFLICT (incarnation, user_id, day) DO UPDATE SET gained = excluded.gained`, jsonRows(gains), raise)
}
