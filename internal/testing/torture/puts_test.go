package torture

import (
	"fmt"
	"net/http"
)

var putModes = []string{"set", "higher", "add", "missing"}

// puts returns the effects of a bulk change on a member.
func (c change) puts(s state) effect {
	before, became := s, "changed"
	switch {
	case !s.exists:
		became = "created"
		s = state{exists: true, messages: max(c.messages, 0), name: c.name}
		if s.xp = c.amount; c.mode == "add" {
			s.gained = c.amount
		}
	case c.mode == "add":
		s = s.gains(min(c.amount, maxXP-s.xp))
		s.messages = min(s.messages+max(c.messages, 0), maxXP)
	case c.mode == "higher":
		s.xp, s.messages = max(s.xp, c.amount), max(s.messages, c.messages)
	case c.mode == "set":
		if s.xp = c.amount; c.messages >= 0 {
			s.messages = c.messages
		}
	}
	if before.exists && c.mode != "missing" && c.name != "" {
		s.name = c.name
	}
	if s == before {
		became = "unchanged"
	}
	return effect{s, outcome{xp: s.xp, messages: s.messages, became: became}}
}

// moves returns the effects of a change of presence.
func (c change) moves(s state) []effect {
	if !s.exists {
		return nil
	}
	says := outcome{became: "0"}
	if s.away != (c.op == leave) {
		s.away, says.became = !s.away, "1"
	}
	return []effect{{s, says}}
}

// path returns the address of the change.
func (c change) path(guild, user string) string {
	if c.op == leave || c.op == comeBack {
		return "/v2/guilds/" + guild + "/presence"
	}
	return memberPath(guild, user)
}

// put makes the call a bulk change.
func (w *messagesCall) put(c *client) {
	w.mode = putModes[c.rng.IntN(len(putModes))]
	for i, m := range w.authors {
		part := change{op: put, mode: w.mode, amount: c.amount(), messages: -1, key: w.key}
		member := map[string]any{"userId": m.user, "xp": part.amount}
		if c.rng.IntN(2) == 0 {
			part.messages = c.rng.Int64N(50)
			member["messageCount"] = part.messages
		}
		if c.rng.IntN(4) == 0 {
			c.serial++
			part.name = fmt.Sprintf("%s-p%d", c.name, c.serial)
			member["user"] = map[string]any{"avatar": nil, "discriminator": "0", "username": part.name}
		}
		w.parts, w.sent, w.from, w.worth = append(w.parts, part), append(w.sent, member), append(w.from, i), append(w.worth, 0)
	}
}

// send sends the call with these messages or members.
func (w *messagesCall) send(h *harness, r *replica, sent []map[string]any) answer {
	if w.mode != "" {
		return h.call(r, http.MethodPut, "/v2/guilds/"+w.guild+"/members", w.key, map[string]any{"mode": w.mode, "members": sent})
	}
	return h.call(r, http.MethodPost, messagesPath(w.guild), w.key, map[string]any{"messages": sent})
}

// counts returns by how much a message of this worth raises its author's count.
func counts(worth int64) int64 {
	if worth == uncounted {
		return 0
	}
	return 1
}
