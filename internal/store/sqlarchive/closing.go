package sqlarchive

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"

	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

// SlowTime bounds the operations that compute over all members of a guild.
const SlowTime = 10 * time.Minute

// ClosePeriod implements periods.Archive. It locks the guild's row only at its end, after the lease. That is safe: a holder of only the lease
// (AcquireLease) waits for no guild.
func (c *Catalog) ClosePeriod(ctx context.Context, l lease.Lease, step periods.Closing) (closed bool, err error) {
	err = c.inSlow(ctx, "close_period", func(t *tx) {
		t.sharesErasures()
		t.holds(l)
		if step.Period != nil {
			closed = t.archivePeriod(step)
		}
		t.noteClosing(step)
	})
	return closed && err == nil, err
}

// archivePeriod writes a period with its standings and totals, unless it has closed already or the guild is another one.
func (t *tx) archivePeriod(step periods.Closing) (closed bool) {
	p, g := step.Period, step.Guild
	number, closed := readValue[int64](t, `
		INSERT INTO periods (incarnation, id, kind, name, first_day, end_day, begins_ms, ends_ms, board, settings, closed_ms)
		SELECT incarnation, CAST($4 AS text), CAST($5 AS text), CAST($6 AS text), CAST($7 AS integer), CAST($8 AS integer),
			CAST($9 AS bigint), CAST($10 AS bigint), $11 = 1, CASE WHEN $11 = 1 THEN settings END, now_ms()
		FROM guilds WHERE id = $1 AND incarnation = $2 AND version = $3
		ON CONFLICT (incarnation, id) DO NOTHING RETURNING number`,
		string(g.ID), int64(g.Incarnation), g.Edited, p.ID, string(p.Kind), p.Name, int64(p.First), int64(p.End),
		step.Begins.UnixMilli(), step.Ends.UnixMilli(), asInt(step.Board))
	switch args := []any{number, int64(g.Incarnation), int64(p.First), int64(p.End)}; {
	case !closed:
	case step.Board:
		t.exec(`
			INSERT INTO standings (period, rank, user_id, gained, xp, message_count, updated_ms,
				avatar, discriminator, username, global_name, accent_colour)
			SELECT CAST($1 AS bigint), row_number() OVER (ORDER BY s.gained DESC, s.user_id DESC), s.user_id, s.gained,
				m.xp, m.message_count, m.updated_ms, m.avatar, m.discriminator, m.username, m.global_name, m.accent_colour
			FROM (
				SELECT user_id, CAST(sum(gained) AS bigint) AS gained FROM gains
				WHERE incarnation + 0 = $2 AND day + 0 >= $3 AND day + 0 < $4
				GROUP BY user_id HAVING sum(gained) > 0) AS s
			JOIN members AS m ON m.incarnation = $2 AND m.user_id = s.user_id AND NOT m.deleted AND m.present
				AND s.user_id NOT IN (SELECT user_id FROM hidden_members WHERE incarnation = $2)`, args...)
		t.exec(`
			UPDATE periods SET (members, gained) = (
				SELECT count(*), coalesce(CAST(sum(gained) AS bigint), 0) FROM standings WHERE period = $1)
			WHERE number = $1`, number)
	default:
		t.exec(`
			UPDATE periods SET (members, gained) = (
				SELECT count(*), coalesce(CAST(sum(s.gained) AS bigint), 0) FROM (
					SELECT user_id, CAST(sum(gained) AS bigint) AS gained FROM gains
					WHERE incarnation + 0 = $2 AND day + 0 >= $3 AND day + 0 < $4
					GROUP BY user_id HAVING sum(gained) > 0) AS s
				JOIN members AS m ON m.incarnation = $2 AND m.user_id = s.user_id AND NOT m.deleted AND m.present
					AND s.user_id NOT IN (SELECT user_id FROM hidden_members WHERE incarnation = $2))
			WHERE number = $1`, args...)
	}
	return closed
}

// noteClosing stores the guild's open periods after a step. It fails with snapshot.ErrStale when the guild is another one, or was written since it
// was read.
func (t *tx) noteClosing(step periods.Closing) {
	open, err := json.Marshal(step.Open, json.Deterministic(true))
	if step.Open == nil {
		open = []byte(`{}`)
	}
	t.fail(err)
	noted := t.exec(`
		UPDATE guilds SET open = $4, closes_ms = $5, keep_day = $6,
			gains_from = coalesce(gains_from, (SELECT day + 0 FROM gains WHERE gains.incarnation + 0 = guilds.incarnation ORDER BY day + 0 LIMIT 1))
		WHERE id = $1 AND incarnation = $2 AND version = $3`,
		string(step.Guild.ID), int64(step.Guild.Incarnation), step.Guild.Edited, string(open), inMillis(step.Next), int64(step.Keep))
	if noted == 0 {
		t.fail(snapshot.ErrStale)
	}
}

func asInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
