package leaderboard

import (
	"context"
	"errors"
	"slices"
	"strings"

	"levelboard/internal/domain/award"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// Message is a message of a member.
type Message struct {
	award.Message
	Data *User // the author's user data; nil if the message had none
}

// Gain is the result of a message.
type Gain struct {
	UserID       id.User     `json:"userId"`
	Gained       level.XP    `json:"gained"`
	XP           level.XP    `json:"xp"` // after the message
	Level        level.Level `json:"level"`
	MessageCount int64       `json:"messageCount"` // after the message
	LeveledUp    bool        `json:"leveledUp"`
	Created      bool        `json:"-"` // the message created the entry
	// InCooldown says that the message was worth XP but gave none, because its author was in a cooldown.
	InCooldown bool `json:"-"`
}

// Award gives the members the XP of their messages by the guild's rules. The results are in the order
// of the messages, as if they had come one after the other. A member without an entry gets one.
//
// Each MaxAwards members are one atomic step. If a step fails, earlier steps were made. The client can then repeat
// a request named by once: completed steps return their first result, and the others are made. replayed says that
// all steps were made before. It returns a Conflict fault if another request was made under the same key.
func (l *Leaderboard) Award(ctx context.Context, g *guild.Guild, messages []Message, once Once) (gains []Gain, replayed bool, err error) {
	members, order := l.offers(g, messages)
	got, replayed, err := inSteps(ctx, l, g, "award messages", members, once, func(part []Award, once Once) ([]Awarded, bool, error) {
		return l.board.Award(ctx, Ref(g), Awards{Members: part, Cooldown: g.Cooldown(), Curve: &g.Curve, Days: l.daysOf(g), Once: once})
	})
	if err != nil {
		return nil, false, err
	}
	return gainsOf(g, order, members, got), replayed, nil
}

// inSteps changes many members in steps of MaxAwards. once names each step by its number.
func inSteps[T, R any](ctx context.Context, l *Leaderboard, g *guild.Guild, op string, members []T, once Once, step func(part []T, once Once) ([]R, bool, error)) (got []R, replayed bool, err error) {
	got, replayed = make([]R, 0, len(members)), true
	for part := range slices.Chunk(members, MaxAwards) {
		again, name := false, once.Step(len(got)/MaxAwards)
		given, err := made(ctx, l, g, op, &name, func() (given []R, err error) {
			given, again, err = step(part, name)
			return given, err
		})
		if err != nil {
			return nil, false, afterSteps(err, len(got) > 0, "repeat the request with its Idempotency-Key, or look before you do.")
		}
		got, replayed = append(got, given...), replayed && again
	}
	return got, replayed, nil
}

// afterSteps returns the error of a step. If the guild left the live store after
// earlier steps may have changed something, the message says so and gives the advice.
func afterSteps(err error, changed bool, advice string) error {
	if changed && errors.Is(err, ErrStillLoading) {
		fault.From(err).Message = beingLoaded + "Some of the members were changed: " + advice
	}
	return err
}

// rulesKept is how many guilds' rules are cached. They need about as much memory as the settings.
const rulesKept = 1000

// rules are a guild's rules, computed from one version of its settings.
type rules struct {
	version int64
	*award.Rules
}

func (l *Leaderboard) rulesOf(g *guild.Guild) *award.Rules {
	known, ok := l.rules.Get(g.Incarnation)
	if !ok || known.version != g.Version {
		known = rules{g.Version, award.NewRules(&g.Settings)}
		l.rules.Add(g.Incarnation, known)
	}
	return known.Rules
}

// offers groups the messages by member, in the order of first appearance. order has the index of each
// message's member. offers copies ids, since those of the messages may be parts of one long text.
func (l *Leaderboard) offers(g *guild.Guild, messages []Message) (members []Award, order []int) {
	rules := l.rulesOf(g)
	places := make(map[id.User]int, len(messages))
	order = make([]int, len(messages))
	for i := range messages {
		m := &messages[i]
		place, known := places[m.UserID]
		if !known {
			place = len(members)
			places[m.UserID] = place
			members = append(members, Award{User: id.User(strings.Clone(string(m.UserID)))})
		}
		member := &members[place]
		offer := rules.XP(m.Message, l.random)
		member.Offers = append(member.Offers, offer)
		if offer > 0 && member.Channel == "" {
			member.Channel = id.Channel(strings.Clone(string(m.Channel)))
		}
		if m.Data != nil {
			member.Data = m.Data
		}
		order[i] = place
	}
	return members, order
}

// gainsOf returns the gains in the order of the messages. It needs no messages, so that their memory can be freed while the call waits for the board.
func gainsOf(g *guild.Guild, order []int, offered []Award, got []Awarded) []Gain {
	type progress struct {
		xp      level.XP
		level   level.Level
		done    int   // messages so far
		counted int64 // counted messages among them
	}
	members := make([]progress, len(got))
	for i, a := range got {
		members[i] = progress{xp: a.Before, level: g.Curve.LevelAt(a.Before)}
	}
	gains := make([]Gain, len(order))
	for i, place := range order {
		a, p := &got[place], &members[place]
		counts, gained, before := a.Gained[p.done] != Uncounted, max(a.Gained[p.done], 0), p.level
		offer := offered[place].Offers[p.done]
		held := gained == 0 && offer > 0 && p.xp < level.MaxXP
		p.done++
		if counts {
			p.counted++
		}
		if gained > 0 {
			p.xp += gained
			p.level = g.Curve.LevelAt(p.xp)
		}
		gains[i] = Gain{
			UserID: offered[place].User, Gained: gained, XP: p.xp, MessageCount: min(a.MessageCount+p.counted, int64(level.MaxXP)),
			Level: p.level, LeveledUp: p.level > before, Created: a.Created && counts && p.counted == 1, InCooldown: held,
		}
	}
	return gains
}
