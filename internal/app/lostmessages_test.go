package app_test

import (
	"encoding/json"
	"fmt"
	"testing"
)

// authorsEach makes some calls take two steps.
const authorsEach = 130

// author is a member of one client that only messages change.
type author struct {
	id           string
	xp, messages int
}

// award sends messages of some of the client's members until they are answered, and takes what the answer says they gave. Its
// own member is often among them: whenever it was deleted in between, it has no cooldown and gains again.
func (c *lossyClient) award() error {
	own := &author{id: c.own}
	if c.exists {
		own.xp, own.messages = c.xp, c.messages
	}
	authors := []*author{own}
	for _, i := range c.random.Perm(authorsEach)[:c.random.IntN(authorsEach)] {
		authors = append(authors, c.authors[i])
	}
	// Some write twice.
	authors = append(authors, authors[:c.random.IntN(min(len(authors), 10))]...)
	messages := make([]object, len(authors))
	for i, a := range authors {
		messages[i] = message(a.id, nil)
	}
	body, err := json.Marshal(object{"messages": messages})
	if err != nil {
		return err
	}
	down := c.downs
	got, err := c.until(200, "POST", messagesPath(c.g), string(body))
	if err != nil {
		return err
	}
	c.calls.Add(1)
	if c.downs > down {
		c.callsAgain.Add(1)
	}
	var answer struct{ Results []result }
	if err := json.Unmarshal(got.Body, &answer); err != nil || len(answer.Results) != len(authors) {
		return fmt.Errorf("%d results for %d messages: %w", len(answer.Results), len(authors), err)
	}
	for i, a := range authors {
		r := answer.Results[i]
		a.xp, a.messages = a.xp+r.Gained, a.messages+1
		if r.UserID != a.id || r.XP != a.xp || r.MessageCount != a.messages {
			return fmt.Errorf("message %d of %d: answer %+v, want user %s with %d XP and %d messages", i, len(authors), r, a.id, a.xp, a.messages)
		}
	}
	c.exists, c.xp, c.messages = true, own.xp, own.messages
	return nil
}

// wantAuthors fails unless every author has the XP that the answers gave and the messages that were sent.
func (r *lossyRun) wantAuthors(t *testing.T, when string, clients []*lossyClient) {
	t.Helper()
	found := map[string]author{}
	for page := 1; ; page++ {
		rows := r.board(r.key, r.g, page).Levels
		for _, row := range rows {
			found[row.UserID] = author{row.UserID, row.XP, row.MessageCount}
		}
		if len(rows) == 0 {
			break
		}
	}
	xp, messages := 0, 0
	for _, c := range clients {
		for _, want := range c.authors {
			got := found[want.id]
			if want.messages == 0 {
				want = &author{}
			}
			if got != *want {
				t.Errorf("%s, client %d's author is %+v, want %+v", when, c.n, got, *want)
			}
			xp, messages = xp+got.xp, messages+got.messages
		}
	}
	t.Logf("%s, %d messages have given the authors %d XP", when, messages, xp)
}
