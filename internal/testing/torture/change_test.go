package torture

import (
	"fmt"
	"net/http"
)

const maxXP = 2147483647

// state is a member's entry, or the lack of one.
type state struct {
	exists bool
	xp     int64
	name   string // the last username, from the creation or a message; may be empty

	messages int64
	gained   int64 // today's gain; 0 in a guild that counts nothing
	away     bool  // it is absent, and keeps everything
}

func (s state) String() string {
	if !s.exists {
		return "absent"
	}
	text := fmt.Sprintf("%d(%s)m%d", s.xp, s.name, s.messages)
	if s.gained != 0 {
		text += fmt.Sprintf(" gained %d", s.gained)
	}
	if s.away {
		text += " away"
	}
	return text
}

// hasLeft is the read of an absent member, which shows nothing else.
var hasLeft = state{exists: true, away: true}

// isRead reports whether a read of a member in state s may show is. A read does not show gains.
func (s state) isRead(is state) bool {
	if s.away {
		return is.exists && is.away
	}
	s.gained = is.gained
	return s == is
}

// op is an operation of the API on a member.
type op string

const (
	create    op = "create"
	increment op = "increment"
	decrement op = "decrement"
	set       op = "set"
	remove    op = "delete"
	award     op = "messages" // one member's part of a call with messages
	put       op = "put"      // one member's part of a bulk change
	leave     op = "leave"
	comeBack  op = "come back"
)

// change is one request that may change a member.
type change struct {
	op       op
	amount   int64  // with award: the worth of the first message with a worth, or 0
	messages int64  // with award: how many count; with put: the message count, or -1
	name     string // with create, and with award and put if they have user data
	mode     string // of put
	cooldown bool   // triggerCooldown, with the operations of PATCH
	key      string // Idempotency-Key; may be empty
}

// outcome is what an answer to a change says about the member.
type outcome struct {
	xp, gained, messages int64
	became               string // result of put; for leave and comeBack whether the member changed
}

// effect is one possible result of a change: the member's state after it, and the answer.
type effect struct {
	after state
	says  outcome
}

// effects is the whole specification of a change: its possible effects on a member, none if it is refused. Only award can have two.
func (c change) effects(s state) []effect {
	switch c.op {
	case award:
		return c.awards(s)
	case put:
		return []effect{c.puts(s)}
	case leave, comeBack:
		return c.moves(s)
	}
	if s.exists == (c.op == create) || s.away && c.op != remove {
		return nil
	}
	switch c.op {
	case create:
		s = state{exists: true, xp: c.amount, name: c.name}
	case remove:
		return []effect{{}}
	case increment:
		s = s.gains(min(c.amount, maxXP-s.xp))
	case decrement:
		s = s.gains(-min(c.amount, s.xp))
	case set:
		s.xp = c.amount
	}
	return []effect{{s, outcome{xp: s.xp, messages: s.messages}}}
}

// gains adds an amount of XP that counts in periods.
func (s state) gains(xp int64) state {
	s.xp += xp
	s.gained += xp
	return s
}

// awards returns the possible effects of messages: the first one worth XP gives it unless a cooldown stops it, and the others give none. A
// member without an entry has no cooldown.
func (c change) awards(s state) []effect {
	if c.messages == 0 {
		return []effect{{s, outcome{xp: s.xp, messages: s.messages}}}
	}
	gained := min(c.amount, maxXP-s.xp)
	mayStop := s.exists && gained > 0
	s.exists, s.away = true, false
	s.messages += c.messages
	if c.name != "" {
		s.name = c.name
	}
	var all []effect
	if mayStop {
		all = append(all, effect{s, outcome{xp: s.xp, messages: s.messages}})
	}
	s = s.gains(gained)
	return append(all, effect{s, outcome{s.xp, gained, s.messages, ""}})
}

// mayCool reports whether the change may start a cooldown.
func (c change) mayCool() bool {
	return c.op == award && c.amount > 0 || c.cooldown && (c.op == increment || c.op == decrement || c.op == set)
}

// cooled reports whether the change with this answer started a cooldown.
func (c change) cooled(says outcome) bool { return c.mayCool() && (c.op != award || says.gained > 0) }

func (c change) String() string {
	text := string(c.op)
	switch c.op {
	case remove, leave, comeBack:
	case put:
		text = fmt.Sprintf("%s %s %d messages %d", c.op, c.mode, c.amount, c.messages)
	case award:
		text = fmt.Sprintf("%d %s worth %d", c.messages, c.op, c.amount)
	default:
		text = fmt.Sprintf("%s %d", c.op, c.amount)
	}
	if c.name != "" {
		text += " as " + c.name
	}
	if c.key != "" {
		text += " key " + c.key
	}
	return text
}

// request returns the change as a request for a user. Messages and puts are sent in calls of several members.
func (c change) request(user string) (method string, body any) {
	switch c.op {
	case leave, comeBack:
		return http.MethodPut, map[string]any{"present": c.op == comeBack, "userIds": []string{user}}
	case create:
		user := map[string]any{"avatar": nil, "discriminator": "0", "username": c.name}
		return http.MethodPost, map[string]any{"xp": c.amount, "user": user}
	case remove:
		return http.MethodDelete, nil
	case set:
		return http.MethodPatch, map[string]any{"xp": c.amount, "triggerCooldown": c.cooldown}
	default:
		return http.MethodPatch, map[string]any{"xp": map[string]any{string(c.op): c.amount}, "triggerCooldown": c.cooldown}
	}
}
