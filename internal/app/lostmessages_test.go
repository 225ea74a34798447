package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
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

// A call of three steps whose connection to Redis is cut at every place there is: what was made is not made again, and what was
// not is made, by sending the same call until it is answered.
func TestACallCutAnywhereIsCompletedByRepeatingIt(t *testing.T) {
	t.Parallel()
	s, server, proxy := behindProxy(t)
	client := redisClient(t, server)
	halfDone := map[testenv.Fault]int{}
	for _, fault := range []testenv.Fault{testenv.NotSent, testenv.NoReply, testenv.HalfAReply} {
		for try := range 35 {
			place := try % 7
			if try >= 7 && halfDone[fault] > 0 {
				break // what the service sends by itself may have taken the fault at all places of a round
			}
			g := s.guild(object{"xpPerMessageMin": 1, "xpPerMessageMax": 1000})
			key := s.key(g)
			s.create(key, g, newID(), 0) // the guild is loaded
			users := newUsers(250)
			text := jsonText(t, object{"messages": append(fromEach(users), fromEach(users[:40])...)})
			call := func() apitest.Response {
				t.Helper()
				got, err := s.quick("POST", messagesPath(g), key, text, named("call"))
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			proxy.Next(append(make([]testenv.Fault, place), fault)...)
			got := call()
			if n := client.ZCard(t.Context(), "lb:{"+g+"}:xp").Val() - 1; n > 0 && n < 250 {
				halfDone[fault]++
				if got.Status != 503 {
					t.Errorf("fault %d at %d: half a call is answered %d", fault, place, got.Status)
				}
			}
			if got.Status == 503 {
				testenv.Wait(t, "the call is completed", func() bool { got = call(); return got.Status != 503 })
			}
			proxy.Next()
			answered := results(t, got)
			again := call()
			wantHeader(t, again, replayed, "true")
			if string(again.Body) != string(got.Body) {
				t.Errorf("fault %d at %d: completed with\n%s\nand again\n%s", fault, place, got.Body, again.Body)
			}
			last := map[string]result{}
			for _, r := range answered {
				if r.Gained == 0 && r.MessageCount == 1 {
					t.Errorf("fault %d at %d: a first message gave nothing: %+v", fault, place, r)
				}
				last[r.UserID] = r
			}
			for page := range 3 {
				for _, m := range s.board(key, g, page+1).Levels {
					if r := last[m.UserID]; m.MessageCount != r.MessageCount || m.XP != r.XP {
						t.Fatalf("fault %d at %d: a member is %+v, answered %+v", fault, place, m, r)
					}
					delete(last, m.UserID)
				}
			}
			if len(last) != 0 {
				t.Errorf("fault %d at %d: not on the board: %v", fault, place, last)
			}
		}
	}
	t.Logf("left half done, by fault: %v", halfDone)
	if len(halfDone) != 3 {
		t.Errorf("calls left half done: %v; that proves little", halfDone)
	}
}
