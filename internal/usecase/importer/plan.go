package importer

import (
	"context"
	"hash/maphash"
	"iter"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// PlanOptions say what would be imported. Curve is the guild's, after the proposed settings if they are taken.
type PlanOptions struct {
	Mode     leaderboard.PutMode
	Curve    level.Curve
	MinLevel level.Level
	There    Index // the guild's members
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
	for row, err := range m.rows(o.Curve, o.MinLevel) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return Plan{}, err
		}
		p.count(&row, o)
	}
	p.BelowMinLevel = m.count() - p.Members
	return p, nil
}

func (p *Plan) count(row *Row, o PlanOptions) {
	tally := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	now, there := o.There[number64(row.UserID)]
	changed := there && changes(o.Mode, row, now)
	p.Members++
	tally(&p.New, !there)
	tally(&p.Changed, changed)
	tally(&p.Unchanged, there && !changed)
	tally(&p.Lower, there && row.XP < now.xp)
	tally(&p.Capped, row.capped())
	tally(&p.FromLevels, row.FromLevel)
	tally(&p.NotPresent, !row.Present)
	tally(&p.ChangeLevel, row.Shown != noLevel && o.Curve.LevelAt(row.XP) != row.Shown)
	if len(p.First) < maxFirst {
		p.First = append(p.First, *row)
	}
}

// changes reports whether a row changes XP, messages, user data or presence of a member.
func changes(mode leaderboard.PutMode, row *Row, now current) bool {
	var messages int64
	if row.MessageCount != nil {
		messages = *row.MessageCount
	}
	changed := false
	switch mode {
	case leaderboard.PutMissing:
		return false
	case leaderboard.PutSet:
		changed = row.XP != now.xp || row.MessageCount != nil && messages != now.messageCount
	case leaderboard.PutHigher:
		changed = row.XP > now.xp || messages > now.messageCount
	case leaderboard.PutAdd:
		changed = row.XP > 0 && now.xp < level.MaxXP || messages > 0
	}
	return changed || !row.Present && now.present || row.User != nil && digestOf(*row.User) != now.user
}

// Index is the members that a guild has, by their ids: some 60 bytes for each.
type Index map[uint64]current

// current is a member as the guild has it.
type current struct {
	xp           level.XP
	messageCount int64
	user         uint64 // digestOf the user data
	present      bool
}

// NewIndex reads all rows, each of another member.
func NewIndex(ctx context.Context, rows iter.Seq2[Row, error]) (Index, error) {
	x := Index{}
	for row, err := range rows {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		now := current{xp: row.XP, present: row.Present}
		if row.MessageCount != nil {
			now.messageCount = *row.MessageCount
		}
		var user leaderboard.User
		if row.User != nil {
			user = *row.User
		}
		now.user = digestOf(user)
		x[number64(row.UserID)] = now
	}
	return x, nil
}

var seed = maphash.MakeSeed()

// digestOf tells user data apart, as far as an import can set it.
func digestOf(u leaderboard.User) uint64 {
	text := func(s *string) string {
		if s == nil {
			return "\x00" // no text has it
		}
		return *s
	}
	return maphash.Comparable(seed, [4]string{u.Username, u.Discriminator, text(u.GlobalName), text(u.Avatar)})
}
