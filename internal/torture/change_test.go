package torture

import (
	"fmt"
	"net/http"
)

const maxXP = 2147483647

// state is a member's entry, or that it has none.
type state struct {
	exists bool
	xp     int64
	name   string // the username that it was created with
}

func (s state) String() string {
	if !s.exists {
		return "absent"
	}
	return fmt.Sprintf("%d(%s)", s.xp, s.name)
}

// op is one of the operations of the API on a member.
type op string

const (
	create    op = "create"
	increment op = "increment"
	decrement op = "decrement"
	set       op = "set"
	remove    op = "delete"
)

// change is one request that may change a member.
type change struct {
	op       op
	amount   int64
	name     string // with create
	cooldown bool   // triggerCooldown, with the operations of PATCH
	key      string // Idempotency-Key; empty for none
}

// apply is the whole specification of a change: what a member is after it, or that it is refused and changes nothing.
func (c change) apply(s state) (after state, done bool) {
	if s.exists == (c.op == create) {
		return s, false
	}
	switch c.op {
	case create:
		return state{true, c.amount, c.name}, true
	case remove:
		return state{}, true
	case increment:
		s.xp = min(s.xp+c.amount, maxXP)
	case decrement:
		s.xp = max(s.xp-c.amount, 0)
	case set:
		s.xp = c.amount
	}
	return s, true
}

func (c change) String() string {
	text := string(c.op)
	if c.op != remove {
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

// request is the change as the API takes it.
func (c change) request() (method string, body any) {
	switch c.op {
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
