package httpapi

import (
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/leaderboard"
)

// update is what the body of PATCH asks for.
type update struct {
	op       leaderboard.Op
	amount   level.XP
	cooldown bool // whether the member's cooldown starts
}

// readUpdate reads the body of PATCH.
func readUpdate(sent []byte) (update, error) {
	if u, ok := scanUpdate(sent); ok {
		return u, nil
	}
	return decodeUpdate(sent)
}

func decodeUpdate(sent []byte) (u update, err error) {
	var request updateRequest
	if err = strictjson.Decode(sent, &request); err != nil {
		return u, err
	}
	u.op, u.amount, err = readXP(request.XP)
	u.cooldown = request.TriggerCooldown.Or(false)
	return u, err
}

// scanUpdate reads the body as nearly every client writes it, without what decodeUpdate needs to name a mistake. As with
// scanMessages, it accepts nothing that decodeUpdate refuses and reads the same out of it.
func scanUpdate(sent []byte) (u update, ok bool) {
	s := bodyScan{text: string(sent)}
	cooldownGiven := false
	name, ok := s.begin()
	for more := ok; more; name, more = s.next() {
		switch {
		case name == "xp" && u.op == "":
			ok = s.xp(&u)
		case name == "triggerCooldown" && !cooldownGiven:
			cooldownGiven = true
			u.cooldown, ok = s.boolean()
		default:
			return u, false
		}
		if !ok {
			return u, false
		}
	}
	return u, u.op != "" && s.is('}') && s.space() == len(s.text)
}

func (s *bodyScan) xp(u *update) (ok bool) {
	if !s.is('{') {
		u.op = leaderboard.Set
		u.amount, ok = s.amount()
		return ok
	}
	name, ok := s.name()
	switch {
	case !ok:
		return false
	case name == "increment":
		u.op = leaderboard.Increment
	case name == "decrement":
		u.op = leaderboard.Decrement
	default:
		return false
	}
	u.amount, ok = s.amount()
	return ok && u.amount > 0 && s.is('}')
}

// amount reads a whole number in its shortest form; whatever else a number can have after it is not what comes next.
func (s *bodyScan) amount() (level.XP, bool) {
	begin := s.space()
	var n level.XP
	for ; s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9'; s.at++ {
		if n = 10*n + level.XP(s.text[s.at]-'0'); n > level.MaxXP {
			return 0, false
		}
	}
	digits := s.at - begin
	return n, digits == 1 || digits > 1 && s.text[begin] != '0'
}
