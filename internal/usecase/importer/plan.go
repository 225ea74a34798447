package importer

import (
	"context"
	"hash/maphash"
	"iter"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// PlanOptions say what would be imported. Curve is the guild's, with the proposed settings if they are taken.
type PlanOptions struct {
	Mode     leaderboard.PutMode
	Curve    level.Curve
	MinLevel level.Level
	There    Index // the guild's current members
}

// Plan counts what an import would do. Members = New + Changed + Unchanged.
type Plan struct {
	Members   int
	New       int
	Changed   int
	Unchanged int
	Lower     int // members who have more XP now than in the files

	BelowMinLevel int // left out of the import
	Capped        int
	FromLevels    int // members whose file has a level but no XP, so that they get its minimum XP
	NotPresent    int
	ChangeLevel   int   // members whose level by the curve is not the one that the source shows
	First         []Row // at most ten
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

// changes reports whether a row would change a member's XP, messages, user data or presence.
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

// Index is a guild's members by their ids. It takes some 60 bytes for each.
type Index map[uint64]current

// current is a member's current state.
type current struct {
	xp           level.XP
	messageCount int64
	user         uint64 // digestOf the user data
	present      bool
}

// NewIndex reads all rows, which must be of different members.
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

// digestOf tells user data apart, in the fields that an import can set.
func digestOf(u leaderboard.User) uint64 {
	text := func(s *string) string {
		if s == nil {
			return "\x00" // no text contains NUL
		}
		return *s
	}
	return maphash.Comparable(seed, [4]string{u.Username, u.Discriminator, text(u.GlobalName), text(u.Avatar)})
}
