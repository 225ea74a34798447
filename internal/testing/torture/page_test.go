package torture

import (
	"encoding/json"
	"fmt"
	"net/http"
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
	Gained       int64 `json:"gained"` // on a period's page

	User struct {
		Username string `json:"username"`
	} `json:"user"`
}

// page reads a page, of all time or of the running period of a kind. It checks that the page is part of a board, and compares the client's own
// members, which do not change meanwhile, with their models.
func (c *client) page(guild, kind string, number int) (rows []pageRow, definite bool) {
	r := c.replica()
	c.h.gate.RLock()
	defer c.h.gate.RUnlock()
	path, name := fmt.Sprintf("/v2/levels/%s?page=%d", guild, number), fmt.Sprintf("page %d", number)
	if kind != "" {
		path, name = path+"&period="+kind, name+" of the "+kind
	}
	a := c.h.call(r, "GET", path, "", nil)
	// A replica may have the settings of the earlier guild, which counted nothing.
	before := kind != "" && guild == churnGuild && a.status == http.StatusNotFound
	if a.verdict == unknown || a.verdict == unsent || before {
		c.failover()
		return nil, false
	}
	var page pageBody
	if a.verdict != done || json.Unmarshal(a.body, &page) != nil {
		c.h.violation(nil, fmt.Sprintf("%s of guild %s on replica %s was answered with %s", name, guild, r.name, a.text))
		return nil, true
	}
	if problem := checkRows(page.Levels, kind, number); problem != "" {
		c.h.violation(nil, fmt.Sprintf("%s of guild %s on replica %s is no board: %s\n%s", name, guild, r.name, problem, a.body))
		return nil, true
	}
	shown := map[string]pageRow{}
	for _, row := range page.Levels {
		shown[row.UserID] = row
		if kind != "" {
			c.h.checkCounterRow(guild, row)
		}
	}
	for _, m := range c.members {
		row, ok := shown[m.user]
		if !ok || m.guild != guild {
			continue
		}
		if m.flags != 0 && a.process == m.flaggedBy {
			c.h.violation(m, fmt.Sprintf("%s of replica %s, which acknowledged that it is hidden, shows member %s", name, a.replica, m.user))
		}
		seen := state{true, row.XP, row.User.Username, row.MessageCount, row.Gained, false}
		a.text = fmt.Sprintf("200 %s rank %d", seen, row.Rank)
		explained := m.shows(func(s state) bool { return s == seen || kind == "" && seen.isRead(s) })
		m.record(c.h, name, a)
		if !explained {
			c.h.violation(m, fmt.Sprintf("%s shows %s, which cannot be: the member was %s", name, seen, m))
		}
	}
	return page.Levels, true
}

// mayFollow reports whether the row may come after another one on a board.
func (row pageRow) mayFollow(before pageRow, kind string) bool {
	if kind == "" {
		return row.XP <= before.XP
	}
	return row.Gained < before.Gained || row.Gained == before.Gained && row.UserID < before.UserID
}

// checkRows returns what is wrong with the order or the ranks of a page's rows, or "".
func checkRows(rows []pageRow, kind string, number int) string {
	seen := map[string]bool{}
	for i, row := range rows {
		if want := int64(pageSize*(number-1) + i + 1); row.Rank != want {
			return fmt.Sprintf("row %d has rank %d, not %d", i, row.Rank, want)
		}
		if i > 0 && !row.mayFollow(rows[i-1], kind) {
			return fmt.Sprintf("rank %d belongs before rank %d", row.Rank, rows[i-1].Rank)
		}
		if kind != "" && row.Gained <= 0 {
			return fmt.Sprintf("rank %d gained nothing", row.Rank)
		}
		if seen[row.UserID] {
			return fmt.Sprintf("user %s is there twice", row.UserID)
		}
		seen[row.UserID] = true
	}
	return ""
}
