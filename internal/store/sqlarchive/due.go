package sqlarchive

import (
	"context"
	"database/sql"
	"errors"
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
func (c *change) openSince(ctx context.Context, s guild.Settings) (string, error) {
	var text []byte
	var now int64
	err := c.QueryRowContext(ctx, `SELECT coalesce((SELECT open FROM guilds WHERE id = $1), '{}'), now_ms()`, string(s.ID)).Scan(&text, &now)
	if err != nil {
		return "", err
	}
	var open periods.Open
	if err := json.Unmarshal(text, &open); err != nil {
		return "", err
	}
	calendar := s.Calendar()
	since := open.Since(calendar, period.DayAt(time.UnixMilli(now), calendar.Zone))
	document, err := json.Marshal(since, json.Deterministic(true))
	return string(document), err
}

// keepsSeasons returns guild.ErrSeasonClosed when the settings have other dates for a season that has closed. It locks the guild, so that none
// closes meanwhile.
func (c *change) keepsSeasons(ctx context.Context, s guild.Settings) error {
	if len(s.Seasons) == 0 {
		return nil
	}
	incarnation, err := scanValue[int64](c.QueryRowContext(ctx, c.sql(`SELECT incarnation FROM guilds WHERE id = $1 FOR UPDATE`), string(s.ID)))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	rows, err := c.QueryContext(ctx, `SELECT id, first_day, end_day FROM periods WHERE incarnation + 0 = $1 AND kind = $2`, incarnation, string(period.Seasonal))
	closed, err := Collect(rows, err, func(row Row) (p period.Period, err error) {
		err = row.Scan(&p.ID, &p.First, &p.End)
		return p, err
	})
	for _, p := range closed {
		for _, season := range s.Seasons {
			if now := season.Period(); now.ID == p.ID && (now.First != p.First || now.End != p.End) {
				return guild.ErrSeasonClosed
			}
		}
	}
	return err
}
