package torture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"levelboard/internal/domain/period"
	"levelboard/internal/testing/testenv"
)

// kinds are the kinds of periods that guilds count. A run is within one day, so a member's gain is the same in all.
var kinds = []string{"day", "week", "month"}

// pickZone returns a zone in which the day began one to two hours ago, so that no day, week or month ends for 22 hours.
func pickZone(now time.Time) string {
	ahead := 1 - now.UTC().Hour()
	if ahead < -12 {
		ahead += 24
	}
	if ahead == 0 {
		return "Etc/GMT"
	}
	return fmt.Sprintf("Etc/GMT%+d", -ahead) // POSIX signs: Etc/GMT-3 is three hours ahead of UTC
}

// longestRun leaves time of pickZone's day for the checks at the end.
const longestRun = 20 * time.Hour

// chooseCalendar decides whether guilds count gains, and in which zone.
func (h *harness) chooseCalendar() {
	if budget(h.t) > longestRun {
		h.t.Fatalf("TORTURE_TIME must be at most %v, because the model has the gains of one day", longestRun)
	}
	h.counts = bytes.Contains(h.must(http.MethodGet, "/v2/openapi.json", nil).body, []byte(`"timeZone"`))
	zone, err := time.LoadLocation(pickZone(time.Now()))
	if err != nil {
		h.t.Fatal(err)
	}
	h.zone = zone
	h.t.Logf("guilds count gains: %v, in %s", h.counts, zone)
}

func (h *harness) today() period.Day { return period.DayAt(time.Now(), h.zone) }

// counted reports whether a guild counts gains. Of recreated guilds every third one does not; the seed decides which.
func (h *harness) counted(guild string) bool {
	return h.counts && (guild == mainGuild || (uint64(h.operator.born)+h.seed)%3 != 0)
}

// unsure reports whether the possible states differ in gains.
func (m *member) unsure() bool {
	var first *int64
	for p := range m.may {
		if first == nil {
			first = &p.gained
		} else if *first != p.gained {
			return true
		}
	}
	return false
}

type historyBody struct {
	Days []struct {
		Date   string `json:"date"`
		Gained int64  `json:"gained"`
	} `json:"days"`
}

// today returns the history's gain of the day. ok is false if the history has any other day.
func (b historyBody) today(day period.Day) (gained int64, ok bool) {
	if len(b.Days) == 0 {
		return 0, true
	}
	one := b.Days[0]
	return one.Gained, len(b.Days) == 1 && one.Date == day.String() && one.Gained != 0
}

// history reads a member's gains. definite is false without an answer.
func (c *client) history(m *member) (definite bool) {
	r := c.replica()
	c.h.gate.RLock()
	a := c.h.call(r, http.MethodGet, "/v2/guilds/"+m.guild+"/members/"+m.user+"/history?days=2", "", nil)
	explained := a.verdict == unknown || a.verdict == unsent
	definite = !explained
	switch a.verdict {
	case done:
		var body historyBody
		if json.Unmarshal(a.body, &body) == nil {
			gained, ok := body.today(c.h.today())
			explained = ok && m.shows(func(s state) bool { return s.exists && !s.away && s.gained == gained })
			a.text = "200 " + strings.TrimSpace(string(a.body))
		}
	case absent:
		explained = m.saw(state{})
	case left:
		explained = m.saw(hasLeft)
	}
	m.record(c.h, "history", a)
	c.h.gate.RUnlock()
	if !explained {
		c.h.violation(m, fmt.Sprintf("the answer %q to a read of the history cannot be: the member was %s", a.text, m))
	}
	if !definite {
		c.failover()
	}
	return definite
}

// checkCounterRow checks a counter's row on a period's page. Only increments make its XP, so its gain equals its XP.
func (h *harness) checkCounterRow(guild string, row pageRow) {
	for _, c := range h.counters {
		if c.guild == guild && c.user == row.UserID && row.Gained != row.XP {
			h.violation(c, fmt.Sprintf("member %s gained all of its %d XP, and its period's page says %d", c.user, row.XP, row.Gained))
		}
	}
}

// checkPeriods compares all reads of a guild's running periods with the model and each other, after every member was read.
func (h *harness) checkPeriods(final *client, guild string) {
	if !h.counted(guild) {
		h.checkNoPeriods(final, guild)
		return
	}
	final.members = h.members()
	var day []pageRow
	for _, kind := range kinds {
		rows, definite := h.readBoard(final, guild, kind)
		if !definite {
			return
		}
		if h.checkGainers(guild, kind, rows); day == nil {
			day = rows
		}
		if !slices.EqualFunc(day, rows, func(a, b pageRow) bool { return a.UserID == b.UserID && a.Gained == b.Gained }) {
			h.violation(nil, fmt.Sprintf("guild %s counts since today, and the boards of its day and its %s differ:\n%v\n%v", guild, kind, day, rows))
		}
	}
	h.checkTotals(final, guild, day)
	for _, owner := range append(slices.Clone(h.clients), h.operator.client) {
		for _, m := range owner.members[:min(len(owner.members), 2)] {
			if m.guild == guild && !h.until(nil, func() bool { return final.history(m) }, "the history of member %s of guild %s", m.user, guild) {
				return
			}
		}
	}
}

// checkGainers checks that a period's board has exactly the members with gains.
func (h *harness) checkGainers(guild, kind string, rows []pageRow) {
	shown := map[string]bool{}
	for _, row := range rows {
		shown[row.UserID] = true
	}
	for _, m := range h.members() {
		if m.guild == guild && m.flags != 0 && shown[m.user] {
			h.violation(m, fmt.Sprintf("the board of the %s of guild %s has member %s, which is hidden", kind, guild, m.user))
		}
		if m.guild == guild && m.flags == 0 && !shown[m.user] && !m.shows(func(s state) bool { return s.gained <= 0 || s.away }) {
			h.violation(m, fmt.Sprintf("the board of the %s of guild %s lacks member %s, which was %s", kind, guild, m.user, m))
		}
		delete(shown, m.user)
	}
	for _, c := range h.counters {
		if c.guild == guild && c.least() > 0 && !shown[c.user] {
			h.violation(c, fmt.Sprintf("the board of the %s of guild %s lacks member %s, which has %s", kind, guild, c.user, c))
		}
		delete(shown, c.user)
	}
	if len(shown) > 0 {
		h.violation(nil, fmt.Sprintf("the board of the %s of guild %s has unknown members: %v", kind, guild, slices.Collect(maps.Keys(shown))))
	}
}

type totals struct {
	Kind    string `json:"kind"`
	Date    string `json:"date"`
	Closed  bool   `json:"closed"`
	Members int64  `json:"members"`
	Gained  int64  `json:"gained"`
	Winners []struct {
		Rank   int64  `json:"rank"`
		UserID string `json:"userId"`
		Gained int64  `json:"gained"`
	} `json:"winners"`
}

// checkTotals compares the list of periods and the activity with the day's board, which equals the week's and the month's.
func (h *harness) checkTotals(final *client, guild string, rows []pageRow) {
	sum := int64(0)
	for _, row := range rows {
		sum += row.Gained
	}
	var list struct {
		Periods []totals `json:"periods"`
		Days    []totals `json:"days"`
	}
	if !h.get(final, "/v2/levels/"+guild+"/periods?page=1", &list) || !h.get(final, "/v2/levels/"+guild+"/activity?days=2", &list) {
		return
	}
	for _, p := range list.Periods {
		good := !p.Closed && len(p.Winners) == min(len(rows), 3)
		for i := 0; good && i < len(p.Winners); i++ {
			w := p.Winners[i]
			good = w.Rank == int64(i+1) && w.UserID == rows[i].UserID && w.Gained == rows[i].Gained
		}
		if !good || p.Members != int64(len(rows)) || p.Gained != sum {
			h.violation(nil, fmt.Sprintf("the list of periods of guild %s has %+v, and the board has %d members who gained %d: %v", guild, p, len(rows), sum, rows))
		}
	}
	for _, d := range list.Days {
		if d.Date != h.today().String() || d.Members != int64(len(rows)) || d.Gained != sum {
			h.violation(nil, fmt.Sprintf("the activity of guild %s has %+v, and the board has %d members who gained %d", guild, d, len(rows), sum))
		}
	}
	if len(list.Periods) != len(kinds) || len(list.Days) != min(len(rows), 1) {
		h.violation(nil, fmt.Sprintf("guild %s lists periods %+v and days %+v", guild, list.Periods, list.Days))
	}
}

// checkNoPeriods checks that a guild that counts nothing has no periods.
func (h *harness) checkNoPeriods(final *client, guild string) {
	if !h.counts {
		return
	}
	var list struct {
		Periods []totals `json:"periods"`
		Days    []totals `json:"days"`
	}
	if h.get(final, "/v2/levels/"+guild+"/periods?page=1", &list) && h.get(final, "/v2/levels/"+guild+"/activity?days=2", &list) &&
		len(list.Periods)+len(list.Days) > 0 {
		h.violation(nil, fmt.Sprintf("guild %s counts nothing, and lists periods %+v and days %+v", guild, list.Periods, list.Days))
	}
	if a := h.call(final.replica(), http.MethodGet, "/v2/levels/"+guild+"?page=1&period=day", "", nil); a.status != http.StatusNotFound {
		h.violation(nil, fmt.Sprintf("guild %s counts nothing, and the board of its day is answered with %s", guild, a.text))
	}
}

// get reads a body until it is answered.
func (h *harness) get(final *client, path string, into any) bool {
	return h.until(nil, func() bool {
		a := h.call(final.replica(), http.MethodGet, path, "", nil)
		if a.verdict == unknown || a.verdict == unsent {
			return false
		}
		if a.verdict != done || json.Unmarshal(a.body, into) != nil {
			h.violation(nil, fmt.Sprintf("GET %s was answered with %s", path, a.text))
		}
		return true
	}, "GET %s", path)
}

// until repeats a read until it is answered, and reports a violation if it takes too long. It returns false after any violation.
func (h *harness) until(about subject, answered func() bool, what string, args ...any) bool {
	if !testenv.Poll(patience, func() bool { return h.isBroken() || answered() }) {
		h.violation(about, fmt.Sprintf("not answered %v after the last fault: ", patience)+fmt.Sprintf(what, args...))
	}
	return !h.isBroken()
}
