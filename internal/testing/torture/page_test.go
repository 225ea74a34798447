package torture

import (
	"encoding/json"
	"fmt"
)

const pageSize = 100

type pageBody struct {
	Levels []pageRow `json:"levels"`
}

type pageRow struct {
	Rank   int64  `json:"rank"`
	UserID string `json:"userId"`
	XP     int64  `json:"xp"`

	MessageCount int64 `json:"messageCount"`

	User struct {
		Username string `json:"username"`
	} `json:"user"`
}

// page reads a page, and holds it to being a board and to what it shows of the client's own members: nothing of them is
// changing meanwhile.
func (c *client) page(guild string, number int) (rows []pageRow, definite bool) {
	r := c.replica()
	c.h.gate.RLock()
	defer c.h.gate.RUnlock()
	a := c.h.call(r, "GET", fmt.Sprintf("/v2/levels/%s?page=%d", guild, number), "", nil)
	if a.verdict == unknown || a.verdict == unsent {
		c.failover()
		return nil, false
	}
	var page pageBody
	if a.verdict != done || json.Unmarshal(a.body, &page) != nil {
		c.h.violation(nil, fmt.Sprintf("page %d of guild %s on replica %s was answered with %s", number, guild, r.name, a.text))
		return nil, true
	}
	if problem := checkRows(page.Levels, number); problem != "" {
		c.h.violation(nil, fmt.Sprintf("page %d of guild %s on replica %s is no board: %s\n%s", number, guild, r.name, problem, a.body))
		return nil, true
	}
	shown := map[string]pageRow{}
	for _, row := range page.Levels {
		shown[row.UserID] = row
	}
	for _, m := range c.members {
		row, ok := shown[m.user]
		if !ok || m.guild != guild {
			continue
		}
		seen := state{true, row.XP, row.User.Username, row.MessageCount}
		a.text = fmt.Sprintf("200 %s rank %d", seen, row.Rank)
		explained := m.saw(seen)
		m.record(c.h, fmt.Sprintf("page %d", number), a)
		if !explained {
			c.h.violation(m, fmt.Sprintf("page %d shows %s, which cannot be: the member was %s", number, seen, m))
		}
	}
	return page.Levels, true
}

// checkRows says what is wrong with the order or the ranks of a page's rows; nothing when it is a part of a board.
func checkRows(rows []pageRow, number int) string {
	seen := map[string]bool{}
	for i, row := range rows {
		if want := int64(pageSize*(number-1) + i + 1); row.Rank != want {
			return fmt.Sprintf("row %d has rank %d, not %d", i, row.Rank, want)
		}
		if i > 0 && row.XP > rows[i-1].XP {
			return fmt.Sprintf("rank %d has more XP than rank %d", row.Rank, rows[i-1].Rank)
		}
		if seen[row.UserID] {
			return fmt.Sprintf("user %s is there twice", row.UserID)
		}
		seen[row.UserID] = true
	}
	return ""
}
