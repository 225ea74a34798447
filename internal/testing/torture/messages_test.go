package torture

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

const (
	messageXP   = 977 // the XP of a message; no sum of the small amounts looks like it
	cooldown    = 10 * time.Second
	stepMembers = 100 // members in one step of a call
	talkChannel = "500000000000000001"
	deafChannel = "500000000000000002" // ignored: its messages do not count
	muteChannel = "500000000000000003" // its messages count, and give no XP
	uncounted   = -1                   // the worth of a message that does not count
)

// messagesCall is one request with messages of some of a client's members, or a bulk change of them, with one change of each.
type messagesCall struct {
	guild   string
	mode    string    // of a bulk change, or empty for messages
	key     string    // Idempotency-Key; may be empty
	authors []*member // each once, ordered by their first messages
	parts   []change  // the change of each author
	from    []int     // the author's index of each message
	worth   []int64   // the worth of each message
	sent    []map[string]any
	began   time.Time // time of the first attempt

	answer []byte // the first answer
}

// many sends a call. With a key it repeats the call until it is answered.
func (c *client) many() {
	wanted := c.compose()
	if wanted == nil {
		return
	}
	wanted.began = time.Now()
	r := c.replica()
	for attempt := 1; ; attempt++ {
		a, problem, about := c.attempt(r, wanted)
		if problem != "" {
			c.h.violation(about, problem)
			return
		}
		if a.verdict == done {
			c.calls.add(wanted, attempt)
			c.repeatableCall(wanted, a)
			return
		}
		r = c.failover()
		if wanted.key == "" {
			return
		}
		if !c.again(attempt, a) {
			c.h.violation(wanted.authors[0], fmt.Sprintf("messages with key %s were not answered within %v of the last fault", wanted.key, patience))
			return
		}
	}
}

// attempt sends a call once, and gives each author's model its part of the answer. After a call without an answer, each of its steps may have
// been made or not, and members of one step may have different possible states, so each author has its own model.
func (c *client) attempt(r *replica, wanted *messagesCall) (a answer, problem string, about subject) {
	c.h.gate.RLock()
	defer c.h.gate.RUnlock()
	a = c.mislay(wanted.key, wanted.send(c.h, r, wanted.sent))
	var says []outcome
	switch a.verdict {
	case unknown, unsent:
	case done:
		if says, problem = wanted.read(a.body); problem != "" {
			return a, fmt.Sprintf("an answer to messages on replica %s contradicts itself: %s\n%s", r.name, problem, a.body), nil
		}
	default:
		return a, fmt.Sprintf("messages on replica %s were answered with %s", r.name, a.text), nil
	}
	for i, m := range wanted.authors {
		part, own := wanted.parts[i], a
		free := len(m.pending) == 0 && wanted.began.After(m.free)
		if a.verdict == done {
			own.says = says[i]
			own.text = fmt.Sprintf("200 %s gained %d xp %d messages %d", own.says.became, own.says.gained, own.says.xp, own.says.messages)
		}
		explained := m.answered(part, own)
		m.record(c.h, part.String(), own)
		if !explained {
			return a, fmt.Sprintf("the answer %q to %q cannot be: the member was %s", own.text, part, m), m
		}
		if a.verdict == done && !m.cooled(own.says.gained > 0, wanted.began, a.ended, !c.h.mode.loses()) {
			return a, fmt.Sprintf("the answer %q to %q cannot be: the member has a cooldown until %s", own.text, part, m.held.Format(clock)), m
		}
		if a.verdict == done && free && part.op == award && part.amount > 0 && own.says.gained == 0 && own.says.xp < maxXP {
			return a, fmt.Sprintf("the answer %q to %q cannot be: the member's cooldown was over at %s", own.text, part, m.free.Format(clock)), m
		}
	}
	return a, "", nil
}

// cooled records that messages gave XP, or none, at some time from began to ended. It returns false if the cooldown does not allow that. A
// Redis that loses data may lose cooldowns.
func (m *member) cooled(gained bool, began, ended time.Time, kept bool) bool {
	if !gained || !kept {
		return true
	}
	if ended.Before(m.held) {
		return false
	}
	// The pending change may be a deletion, which ends the cooldown.
	if len(m.pending) == 0 {
		m.held = began.Add(cooldown - time.Millisecond) // Redis has milliseconds
	}
	return true
}

// compose chooses authors and their messages. It returns nil if every member must settle first.
func (c *client) compose() *messagesCall {
	c.h.gate.RLock() // a loss of Redis changes the members' possible states
	defer c.h.gate.RUnlock()
	most := len(c.members)
	if c.rng.IntN(3) == 0 {
		most = min(most, membersEach)
	}
	wanted := &messagesCall{guild: c.members[0].guild}
	n := 1 + c.rng.IntN(most)
	for _, i := range c.rng.Perm(len(c.members)) {
		if m := c.members[i]; len(m.pending) < mostPending && len(wanted.authors) < n {
			wanted.authors = append(wanted.authors, m)
		}
	}
	if len(wanted.authors) == 0 {
		return nil
	}
	if c.rng.IntN(100) < 70 {
		wanted.key = c.newKey()
	}
	if c.rng.IntN(4) == 0 {
		wanted.put(c)
		return wanted
	}
	for i := range wanted.authors {
		wanted.parts = append(wanted.parts, change{op: award, key: wanted.key})
		wanted.add(c, i)
	}
	for range c.rng.IntN(1 + n/2) {
		wanted.add(c, c.rng.IntN(len(wanted.authors)))
	}
	return wanted
}

// add adds a message of an author.
func (w *messagesCall) add(c *client, author int) {
	part := &w.parts[author]
	message := map[string]any{"userId": w.authors[author].user, "channelId": talkChannel}
	worth := int64(messageXP)
	switch c.rng.IntN(9) {
	case 0:
		message["channelId"], worth = deafChannel, uncounted
	case 1:
		message["parentChannelId"], worth = deafChannel, uncounted
	case 2:
		message["channelId"], worth = muteChannel, 0
	}
	if c.rng.IntN(3) == 0 {
		c.serial++
		part.name = fmt.Sprintf("%s-m%d", c.name, c.serial)
		message["user"] = map[string]any{"avatar": nil, "discriminator": "0", "username": part.name}
	}
	if worth != uncounted {
		part.messages++
	}
	part.amount = max(part.amount, worth)
	w.sent, w.from, w.worth = append(w.sent, message), append(w.from, author), append(w.worth, worth)
}

// read checks that the answer fits the call and is consistent: each message counts, and only an author's first message worth XP can give it,
// up to the cap. It returns the outcome for each author.
func (w *messagesCall) read(body []byte) (says []outcome, problem string) {
	var answer struct {
		Results []struct {
			UserID       string `json:"userId"`
			Outcome      string `json:"outcome"`
			Gained       int64  `json:"gained"`
			XP           int64  `json:"xp"`
			MessageCount int64  `json:"messageCount"`
		} `json:"results"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err.Error()
	}
	if len(answer.Results) != len(w.sent) {
		return nil, fmt.Sprintf("%d results for %d messages", len(answer.Results), len(w.sent))
	}
	says = make([]outcome, len(w.authors))
	if w.mode != "" {
		for i, got := range answer.Results {
			if got.UserID != w.authors[i].user {
				return nil, fmt.Sprintf("result %d is of user %s, not %s", i, got.UserID, w.authors[i].user)
			}
			says[i] = outcome{xp: got.XP, messages: got.MessageCount, became: got.Outcome}
		}
		return says, ""
	}
	seen, tried := make([]bool, len(w.authors)), make([]bool, len(w.authors))
	for i, got := range answer.Results {
		author := w.from[i]
		all := &says[author]
		switch {
		case got.UserID != w.authors[author].user:
			return nil, fmt.Sprintf("result %d is of user %s, the message of %s", i, got.UserID, w.authors[author].user)
		case got.Gained != 0 && (tried[author] || w.worth[i] <= 0):
			return nil, fmt.Sprintf("message %d gave XP, and can give none", i)
		case got.Gained != 0 && got.Gained != w.worth[i] && (got.Gained > w.worth[i] || got.XP != maxXP):
			return nil, fmt.Sprintf("message %d gave %d XP and is worth %d", i, got.Gained, w.worth[i])
		case seen[author] && (got.XP != all.xp+got.Gained || got.MessageCount != all.messages+counts(w.worth[i])):
			return nil, fmt.Sprintf("result %d does not follow the one before of user %s", i, got.UserID)
		}
		*all = outcome{got.XP, all.gained + got.Gained, got.MessageCount, ""}
		seen[author], tried[author] = true, tried[author] || w.worth[i] > 0
	}
	return says, ""
}

// repeatableCall keeps a call that can be repeated: Redis loses nothing, so it still has the records, and the guild is not recreated by
// then.
func (c *client) repeatableCall(made *messagesCall, a answer) {
	if made.key == "" || c.h.mode.loses() || made.guild != mainGuild {
		return
	}
	made.answer = a.body
	c.said = made
}

// repeatMessages repeats the last call, which must get the same answer, or sends another under its key, which must be refused. Neither changes
// anything, so the model stays the same.
func (c *client) repeatMessages() {
	made, want := c.said, done
	sent := made.sent
	if c.rng.IntN(4) == 0 {
		want, sent = reused, append(sent[:len(sent):len(sent)], map[string]any{"userId": churnUser(0), "xp": 1, "channelId": talkChannel})
		if made.mode != "" {
			delete(sent[len(sent)-1], "channelId")
		} else {
			delete(sent[len(sent)-1], "xp")
		}
	}
	r := c.replica()
	c.h.gate.RLock()
	a := made.send(c.h, r, sent)
	c.h.gate.RUnlock()
	switch {
	case a.verdict == unknown || a.verdict == unsent:
		c.failover()
	case a.verdict != want || want == done && string(a.body) != string(made.answer):
		about := made.authors[0]
		c.h.violation(about, fmt.Sprintf("%d messages, sent again under key %s, were answered with\n%d %s\nThe first answer was\n%s",
			len(sent), made.key, a.status, strings.TrimSpace(string(a.body)), made.answer))
	}
}

// callCount counts the answered calls.
type callCount struct{ all, large, repeated, hides int }

func (n *callCount) add(answered *messagesCall, attempts int) {
	n.all++
	if len(answered.authors) > stepMembers {
		n.large++
		if attempts > 1 {
			n.repeated++
		}
	}
}

func messagesPath(guild string) string { return "/v2/guilds/" + guild + "/messages" }
