package importer

import (
	"context"
	"fmt"
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// Current is a member as the guild has it.
type Current struct {
	XP           level.XP
	MessageCount int64
	User         leaderboard.User
	Present      bool
}

// lookupSize is how many members are looked up at a time.
const lookupSize = 100

// PlanOptions say what would be imported. Curve is the guild's, after the proposed settings if they are taken.
type PlanOptions struct {
	Mode     leaderboard.PutMode
	Curve    level.Curve
	MinLevel level.Level
	// Lookup returns those of up to 100 members that the guild has.
	Lookup func(ctx context.Context, users []id.User) (map[id.User]Current, error)
}

// Plan is what an import would do. Members = New + Changed + Unchanged.
type Plan struct {
	Members   int
	New       int
	Changed   int
	Unchanged int
	Lower     int // changed or unchanged members who have more XP now than in the files

	BelowMinLevel int // left out
	Capped        int
	FromLevels    int // whose XP is the least of their level, since the file has no XP
	NotPresent    int
	ChangeLevel   int   // whose level by the curve is not the one that the source shows
	First         []Row // ten at most
}

const maxFirst = 10

// Plan counts what an import would do. It changes nothing.
func (m *Members) Plan(ctx context.Context, o PlanOptions) (Plan, error) {
	var p Plan
	batch := make([]Row, 0, lookupSize)
	for row, err := range m.rows(o.Curve, o.MinLevel) {
		if err != nil {
			return Plan{}, err
		}
		p.count(&row, o.Curve)
		if batch = append(batch, row); len(batch) == lookupSize {
			if err := p.compare(ctx, batch, o); err != nil {
				return Plan{}, err
			}
			batch = batch[:0]
		}
	}
	if len(batch) > 0 {
		if err := p.compare(ctx, batch, o); err != nil {
			return Plan{}, err
		}
	}
	p.BelowMinLevel = m.count() - p.Members
	return p, nil
}

func (p *Plan) count(row *Row, curve level.Curve) {
	tally := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	p.Members++
	tally(&p.Capped, row.capped())
	tally(&p.FromLevels, row.FromLevel)
	tally(&p.NotPresent, !row.Present)
	tally(&p.ChangeLevel, row.Shown != noLevel && curve.LevelAt(row.XP) != row.Shown)
	if len(p.First) < maxFirst {
		p.First = append(p.First, *row)
	}
}

func (p *Plan) compare(ctx context.Context, rows []Row, o PlanOptions) error {
	users := make([]id.User, len(rows))
	for i := range rows {
		users[i] = rows[i].UserID
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	there, err := o.Lookup(ctx, slices.Clone(users))
	if err != nil {
		return fmt.Errorf("look up members: %w", err)
	}
	for i := range rows {
		now, ok := there[rows[i].UserID]
		switch {
		case !ok:
			p.New++
		case changes(o.Mode, &rows[i], now):
			p.Changed++
		default:
			p.Unchanged++
		}
		if ok && rows[i].XP < now.XP {
			p.Lower++
		}
	}
	return nil
}

// changes reports whether a row changes XP, messages, user data or presence of a member.
func changes(mode leaderboard.PutMode, row *Row, now Current) bool {
	var messages int64
	if row.MessageCount != nil {
		messages = *row.MessageCount
	}
	changed := false
	switch mode {
	case leaderboard.PutMissing:
		return false
	case leaderboard.PutSet:
		changed = row.XP != now.XP || row.MessageCount != nil && messages != now.MessageCount
	case leaderboard.PutHigher:
		changed = row.XP > now.XP || messages > now.MessageCount
	case leaderboard.PutAdd:
		changed = row.XP > 0 && now.XP < level.MaxXP || messages > 0
	}
	return changed || !row.Present && now.Present || row.User != nil && !sameUser(*row.User, now.User)
}

// sameUser compares what an import can set.
func sameUser(a, b leaderboard.User) bool {
	return a.Username == b.Username && a.Discriminator == b.Discriminator && sameText(a.GlobalName, b.GlobalName) && sameText(a.Avatar, b.Avatar)
}

func sameText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}
