package httpapi

import (
	"fmt"
	"strings"
)

// badNumbers are invalid for a query parameter that is a whole number from 0 or 1.
var badNumbers = []string{
	"", "-1", "%2B1", "%201", "1%20", "+1", "1.0", "1.5", "1e0", "0x1", "1_0", "one", "1,2", "%D9%A1", "1%00", "null", "-0", "01", "%221%22", "Inf", "%zz", "1%", "-99999999999999999999",
}

// badPeriods are invalid names of periods.
var badPeriods = []string{
	"", "Day", "weeks", "year", "2026", "2026-1", "2026-13", "2026-00", "2026-11-31", "2026-02-29", "2026-11-2", "2026-W00", "2026-W54", "2025-W53", "2026-w48",
	"2026W48", "season-", "season-A", "season-winter_26", "season-" + strings.Repeat("a", 33), "1969-12-31", "10000-01-01", "day%20", "%00", "2026-11-25T00:00",
}

// badParameters returns queries that are invalid for one route.
func badParameters() (all []badRequest) {
	refused := func(path string, queries ...string) {
		for _, query := range queries {
			all = append(all, badRequest{route{"GET", path, query, ""}, 400, nil})
		}
	}
	// number refuses everything that is no whole number from low to high; a high of 0 is no bound.
	number := func(path, others, name string, low, high int) {
		query := func(value string) { refused(path, others+name+"="+value) }
		for _, bad := range badNumbers {
			query(bad)
		}
		query(fmt.Sprint(low - 1))
		if high > 0 {
			query(fmt.Sprint(high + 1))
			query("99999999999999999999")
		}
		refused(path, others+name, others+name+"=1&"+name+"=1", others+strings.ToUpper(name[:1])+name[1:]+"=0", others+name+"[]=1")
	}
	board, around, members := "/v2/levels/{guild}", "/v2/guilds/{guild}/members/{user}/around", "/v2/guilds/{guild}/members"
	number(board, "", "page", 1, 0)
	number("/v2/levels/gophers", "", "page", 1, 0)
	number(board+"/periods", "", "page", 1, 0)
	number(board+"/activity", "", "days", 1, 366)
	number("/v2/guilds/{guild}/members/{user}/history", "", "days", 1, 366)
	number("/v2/guilds/{guild}/role-rewards/level", "userId={user}&", "level", 0, 10000)
	refused(board, "", "?page=1", "period=day", "page=1&period", "page=1&period=day&period=week")
	for _, name := range badPeriods {
		refused(board, "page=1&period="+name)
		refused(around, "limit=3&period="+name)
	}
	refused(board+"/periods", "", "kind=day", "page=1&kind=", "page=1&kind=Week", "page=1&kind=year", "page=1&kind=day&kind=day")
	refused(board+"/users/{user}/card.svg", "theme=", "theme=Dark", "theme=auto", "theme=dark&theme=dark")
	refused("/v2/guilds/{guild}/role-rewards/level", "", "userId={user}", "level=1", "level=1&userId=", "level=1&userId={user}&userId={user}")
	hundred := make([]string, 100)
	for i := range hundred {
		hundred[i] = fmt.Sprintf("1%017d", i)
	}
	for _, id := range badSnowflakes {
		refused("/v2/guilds/{guild}/role-rewards/level", "level=1&userId="+id)
		refused(members, "ids="+id, "ids={user},"+id)
	}
	refused(members, "", "ids=", "ids", "ids=,", "ids={user},", "ids=,{user}", "ids={user},,{other}", "ids={user},%20{other}", "ids={user}%3B{other}", "ids={user},{other},{user}", "ids={user}&ids={other}",
		"ids={user},"+strings.Join(hundred, ","), "IDs={user}", "ids[]={user}", "ids=[%22{user}%22]", "limit=5", "ids={user}&search=a", "ids=&search=", "search=", "search", "search=%20+",
		"search="+strings.Repeat("a", 65), "search="+strings.Repeat("%C3%A9", 65), "search=%FF", "search=a%00", "search=a%07b", "search=a&search=b", "Search=a", "ids={user}&limit=5")
	for _, limit := range append(badNumbers, "0", "21", "99999999999999999999") {
		refused(members, "search=a&limit="+limit)
	}
	for _, limit := range append(badNumbers, "0", "101", "99999999999999999999") {
		refused(around, "limit="+limit)
	}
	for _, limit := range append(badNumbers, "0", "1001") {
		refused("/admin/guilds", "limit="+limit)
		refused("/admin/keys", "limit="+limit)
	}
	refused("/admin/guilds", "after=", "after=x", "after={guild}&after={guild}")
	refused("/admin/keys", "after=")
	refused("/admin/guilds/{guild}/export", "", "format=", "format=xml", "format=JSON", "format=json&format=csv")
	refused("/admin/guilds/{guild}/audit", "before=", "before=1", "before=1-", "before=-1-0", "before=01-0", "before=1-0x", "before=99999999999999999999-0", "limit=0", "limit=101", "limit=",
		"limit=01", "limit=1&limit=1", "userId=", "userId=x", "userId=1", "actorId=", "since=", "since=yesterday", "since=2026-11-25", "until=2026-11-25T12:00:00")
	return all
}
