package sqlarchive

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/periods"
)

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
