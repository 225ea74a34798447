package sqlarchive

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
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

// Due implements periods.Archive. A guild whose document cannot be read is passed over: operations on the guild say so.
func (c *Catalog) Due(ctx context.Context, by time.Time, limit int) (due []periods.Due, err error) {
	after := dueRow{closes: -1}
	for len(due) < limit {
		rows, err := list(ctx, c, "list_due_guilds", scanDue, `
			SELECT id, closes_ms, epoch, archived, open, coalesce((
				SELECT string_agg(p.id, ' ') FROM periods p WHERE p.incarnation + 0 = guilds.incarnation AND p.kind = $5), ''),
				id, settings, incarnation, version, described, hidden
			FROM guilds WHERE closes_ms <= $3 AND (closes_ms, id) > ($1, $2) ORDER BY closes_ms, id LIMIT $4`,
			after.closes, string(after.id), by.UnixMilli(), limit, string(period.Seasonal))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if after = r; r.Guild != nil && len(due) < limit {
				due = append(due, r.Due)
			}
		}
		if len(rows) < limit {
			break
		}
	}
	return due, nil
}

// dueRow is a guild, without one when its document cannot be read, and its place among the others.
type dueRow struct {
	periods.Due
	closes int64
	id     id.Guild
}

func scanDue(row Row) (r dueRow, err error) {
	var open []byte
	var seasons string
	g, err := scanGuildAfter(row, &r.id, &r.closes, &r.State.Epoch, &r.State.Archived, &open, &seasons)
	if r.id == "" {
		return r, err
	}
	if err != nil || json.Unmarshal(open, &r.Open) != nil {
		return r, nil
	}
	r.Guild = g
	closed := idsIn[string](seasons)
	for _, s := range g.Seasons {
		if p := s.Period(); slices.Contains(closed, p.ID) {
			r.ClosedSeasons = append(r.ClosedSeasons, p.ID)
		}
	}
	return r, nil
}

// openSince returns the open periods of a guild by settings that are being written: so a kind that is turned on at the end of a period closes with
// that period, though nobody has looked at the guild yet.
func (t *tx) openSince(s guild.Settings) string {
	type now struct {
		open []byte
		at   time.Time
	}
	is, _ := readRow(t, columns(func(n *now) []any { return []any{&n.open, millis{&n.at}} }),
		`SELECT coalesce((SELECT open FROM guilds WHERE id = $1), '{}'), now_ms()`, string(s.ID))
	if t.err != nil {
		return ""
	}
	var open periods.Open
	t.fail(json.Unmarshal(is.open, &open))
	calendar := s.Calendar()
	document, err := json.Marshal(open.Since(calendar, period.DayAt(is.at, calendar.Zone)), json.Deterministic(true))
	t.fail(err)
	return string(document)
}

// keepsSeasons fails with guild.ErrSeasonClosed when the settings have other dates for a season that has closed. It locks the guild, so that none
// closes meanwhile.
func (t *tx) keepsSeasons(s guild.Settings) {
	if len(s.Seasons) == 0 {
		return
	}
	incarnation, _ := readValue[int64](t, `SELECT incarnation FROM guilds WHERE id = $1 FOR UPDATE`, string(s.ID))
	closed := readAll(t, columns(func(p *period.Period) []any { return []any{&p.ID, &p.First, &p.End} }),
		`SELECT id, first_day, end_day FROM periods WHERE incarnation + 0 = $1 AND kind = $2`, incarnation, string(period.Seasonal))
	for _, p := range closed {
		for _, season := range s.Seasons {
			if now := season.Period(); now.ID == p.ID && (now.First != p.First || now.End != p.End) {
				t.fail(guild.ErrSeasonClosed)
			}
		}
	}
}
