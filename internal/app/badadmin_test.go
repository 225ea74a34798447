package app_test

import (
	"net/http"
	"strings"
)

func guildWith(property string) string {
	return `{"name":"x","memberCount":1,"ownerId":"100000000000000007",` + property + `}`
}

func multiplierWith(fields string) string { return guildWith(`"multipliers":[{` + fields + `}]`) }

func rewardWith(fields string) string { return guildWith(`"roleRewards":[{` + fields + `}]`) }

const (
	channelTarget = `{"id":"200000000000000001","name":"help","parentId":null,"position":1,"type":0}`
	roleTarget    = `{"id":"300000000000000001","name":"Regular","color":null,"position":1}`
)

func badGuildBodies() map[string]string {
	all := map[string]string{
		"name missing": `{"memberCount":1,"ownerId":"100000000000000007"}`, "name null": `{"name":null,"memberCount":1,"ownerId":"100000000000000007"}`,
		"name empty": `{"name":"","memberCount":1,"ownerId":"100000000000000007"}`, "name with NUL": `{"name":"a\u0000","memberCount":1,"ownerId":"100000000000000007"}`,
		"memberCount 0": `{"name":"x","memberCount":0,"ownerId":"100000000000000007"}`, "memberCount fraction": `{"name":"x","memberCount":1.5,"ownerId":"100000000000000007"}`,
		"memberCount string": `{"name":"x","memberCount":"1","ownerId":"100000000000000007"}`, "memberCount null": `{"name":"x","memberCount":null,"ownerId":"100000000000000007"}`,
		"memberCount negative": `{"name":"x","memberCount":-1,"ownerId":"100000000000000007"}`,
		"ownerId short":        `{"name":"x","memberCount":1,"ownerId":"7"}`, "ownerId number": `{"name":"x","memberCount":1,"ownerId":100000000000000007}`,
		"ownerId null":                        `{"name":"x","memberCount":1,"ownerId":null}`,
		"a channel in two multipliers":        guildWith(`"multipliers":[{"type":"Channel","multiplier":1,"targets":[` + channelTarget + `]},{"type":"Channel","multiplier":1,"targets":[` + channelTarget + `]}]`),
		"a role in two multipliers":           guildWith(`"multipliers":[{"type":"Role","multiplier":1,"targets":[` + roleTarget + `]},{"type":"Role","multiplier":2,"targets":[` + roleTarget + `]}]`),
		"role target of a channel multiplier": multiplierWith(`"type":"Channel","multiplier":1,"targets":[` + roleTarget + `]`),
		"channel target of a role multiplier": multiplierWith(`"type":"Role","multiplier":1,"targets":[` + channelTarget + `]`),
	}
	for property, values := range map[string][]string{
		"id":                  {`"100000000000000009"`, `"x"`, `1`, `null`},
		"icon":                {`1`, `"a\u0000"`, `{}`},
		"adminIds":            {`null`, `"100000000000000007"`, `["x"]`, `[null]`, `[1]`, `{}`},
		"enabled":             {`null`, `1`, `"true"`},
		"embedding":           {`null`, `0`, `"true"`, `[]`},
		"visibility":          {`null`, `"secret"`, `"Public"`, `""`, `true`},
		"vanity":              {`"a"`, `""`, `"` + strings.Repeat("a", 33) + `"`, `"with space"`, `"under_score"`, `"gö"`, `"12345678901234567"`, `"123456789012345678"`, `"0234567890123456789"`, `1`},
		"curve":               {`null`, `"steep"`, `"Default"`, `1`, `{}`, `[]`, `[1]`, `[1,2,3,4,5,6]`, `[100,-1]`, `[100,0]`, `[-1,1]`, `[0,0.1]`, `["1","2"]`, `[1,null]`, `[0,1e400]`, `[0,100,-1]`},
		"xpGainInterval":      {`9999`, `86400001`, `60000.5`, `null`, `"60000"`, `-60000`},
		"xpPerMessageMin":     {`0`, `1001`, `1.5`, `null`, `41`},
		"xpPerMessageMax":     {`0`, `1001`, `1.5`, `null`, `14`},
		"xpGlobalMultiplier":  {`-0.1`, `5.1`, `null`, `"1"`, `1e400`},
		"ignoredChannelIds":   {`null`, `["x"]`, `[1]`, `"100000000000000007"`},
		"ignoredRoleIds":      {`null`, `["x"]`, `[1]`},
		"auditIncrementsFrom": {`null`, `-1`, `2147483648`, `1.5`, `"1000"`},
		"ignoredUserIds":      {`null`, `["x"]`, `[1]`, `"100000000000000001"`},
		"multipliers":         {`null`, `{}`, `[null]`, `[{}]`, `[1]`},
		"roleRewards":         {`null`, `{}`, `[null]`, `[{}]`, `["x"]`},
		"timeZone":            {`null`, `""`, `1`, `"Local"`, `"Europe/Atlantis"`, `"+01:00"`, `"../UTC"`, `"localtime"`},
		"periods":             {`null`, `"day"`, `["season"]`, `["day","day"]`, `[null]`, `{}`},
		"seasons": {`null`, `{}`, `[null]`, `[{}]`, `["x"]`, `[{"id":"A","name":"x","start":"2026-12-01","end":"2026-12-02"}]`,
			`[{"id":"a","name":"","start":"2026-12-01","end":"2026-12-02"}]`, `[{"id":"a","name":"x","start":"2026-12-01","end":"2026-12-01"}]`,
			`[{"id":"a","name":"x","start":"2026-12-01","end":"2028-01-06"}]`, `[{"id":"a","name":"x","start":"1.12.2026","end":"2026-12-02"}]`,
			`[{"id":"a","name":"x","start":"2026-12-01","end":"2026-12-03"},{"id":"b","name":"x","start":"2026-12-02","end":"2026-12-04"}]`},
		"version":     {`1`},
		"incarnation": {`1`},
	} {
		for _, value := range values {
			all[property+" "+value] = guildWith(`"` + property + `":` + value)
		}
	}
	for _, fields := range []string{
		`"type":"User","multiplier":1,"targets":[]`, `"type":"channel","multiplier":1,"targets":[]`, `"multiplier":1,"targets":[]`, `"type":"Role","targets":[]`,
		`"type":"Role","multiplier":1`, `"type":"Role","multiplier":5.1,"targets":[]`, `"type":"Role","multiplier":-1,"targets":[]`, `"type":"Role","multiplier":"1","targets":[]`,
		`"type":"Role","multiplier":1,"targets":[{}]`, `"type":"Role","multiplier":1,"targets":null`, `"type":"Role","multiplier":1,"targets":[` + roleTarget + `],"more":1`,
		`"id":"x","type":"Role","multiplier":1,"targets":[]`, `"id":null,"type":"Role","multiplier":1,"targets":[]`,
		`"type":"Role","multiplier":1,"targets":[{"id":"x","name":"a","color":null,"position":0}]`,
		`"type":"Role","multiplier":1,"targets":[{"id":"300000000000000001","name":"a","color":null,"position":-1}]`,
		`"type":"Role","multiplier":1,"targets":[{"id":"300000000000000001","name":null,"color":null,"position":0}]`,
		`"type":"Channel","multiplier":1,"targets":[{"id":"200000000000000001","name":"a","parentId":"x","position":0,"type":0}]`,
		`"type":"Channel","multiplier":1,"targets":[{"id":"200000000000000001","name":"a","parentId":null,"position":0,"type":-1}]`,
	} {
		all["multiplier "+fields] = multiplierWith(fields)
	}
	for _, fields := range []string{
		`"level":-1,"roles":[` + roleTarget + `]`, `"level":10001,"roles":[` + roleTarget + `]`, `"level":1.5,"roles":[` + roleTarget + `]`, `"roles":[` + roleTarget + `]`,
		`"level":1`, `"level":1,"roles":null`, `"level":1,"roles":["300000000000000001"]`, `"level":1,"stack":null,"roles":[` + roleTarget + `]`,
		`"level":1,"stack":1,"roles":[` + roleTarget + `]`, `"level":1,"id":"x","roles":[` + roleTarget + `]`, `"level":1,"roles":[` + roleTarget + `],"more":1`,
		`"level":1,"roles":[{"id":"3","name":"a","color":null,"position":0}]`, `"level":1,"roles":[` + channelTarget + `]`,
	} {
		all["reward "+fields] = rewardWith(fields)
	}
	return all
}

// badBodiless sends bodies to routes that take none.
func badBodiless() (all []badRequest) {
	for _, route := range [][2]string{
		{"POST", "/admin/guilds/{guild}/reset"}, {"POST", "/admin/guilds/{guild}/checkpoints/1/restore"}, {"DELETE", "/admin/guilds/{guild}/checkpoints/1"},
		{"DELETE", "/admin/guilds/{guild}"}, {"DELETE", "/admin/users/{user}"}, {"DELETE", "/admin/keys/{key}"},
		{"PUT", "/admin/keys/{key}/guilds/{other}"}, {"DELETE", "/admin/keys/{key}/guilds/{guild}"}, {"DELETE", "/v2/levels/{guild}/users/{user}"},
	} {
		for _, body := range []string{`{"a":1}`, `null`, `[]`, `""`, `{}{}`, `{`, " ", "a=1", `{"":{}}`, strings.Repeat(" ", 64<<10+1)} {
			all = append(all, badRequest{"a body where there is none", route[0], route[1], body, 400, nil})
		}
		all = append(all, badRequest{"a form where there is no body", route[0], route[1], "a=1", 400, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}})
	}
	return all
}

func keyWith(property string) string {
	return `{"name":"x","ownerId":"100000000000000007","permission":"read",` + property + `}`
}

var badKeyBodies = map[string]string{
	"name missing": `{"ownerId":"100000000000000007","permission":"read"}`, "name null": `{"name":null,"ownerId":"100000000000000007","permission":"read"}`,
	"name empty": `{"name":"","ownerId":"100000000000000007","permission":"read"}`, "name number": `{"name":1,"ownerId":"100000000000000007","permission":"read"}`,
	"ownerId missing": `{"name":"x","permission":"read"}`, "ownerId short": `{"name":"x","ownerId":"7","permission":"read"}`,
	"ownerId number":     `{"name":"x","ownerId":100000000000000007,"permission":"read"}`,
	"permission missing": `{"name":"x","ownerId":"100000000000000007"}`, "permission write": `{"name":"x","ownerId":"100000000000000007","permission":"write"}`,
	"permission READ": `{"name":"x","ownerId":"100000000000000007","permission":"READ"}`, "permission null": `{"name":"x","ownerId":"100000000000000007","permission":null}`,
	"guildIds null": keyWith(`"guildIds":null`), "guildIds string": keyWith(`"guildIds":"{guild}"`), "guildIds bad": keyWith(`"guildIds":["x"]`), "guildIds numbers": keyWith(`"guildIds":[1]`),
	"expiresAt past": keyWith(`"expiresAt":"2020-01-01T00:00:00Z"`), "expiresAt date": keyWith(`"expiresAt":"2999-01-01"`), "expiresAt number": keyWith(`"expiresAt":4102444800`),
	"expiresAt duration": keyWith(`"expiresAt":"720h"`), "expiresAt without zone": keyWith(`"expiresAt":"2999-01-01T00:00:00"`), "expiresAt empty": keyWith(`"expiresAt":""`),
	"rateLimit negative": keyWith(`"rateLimit":-1`), "rateLimit fraction": keyWith(`"rateLimit":1.5`), "rateLimit string": keyWith(`"rateLimit":"120"`), "rateLimit enormous": keyWith(`"rateLimit":99999999999`),
	"its own id": keyWith(`"id":"k3v9qzr2m8xa"`), "its own secret": keyWith(`"key":"lb_x"`), "hash": keyWith(`"hash":"x"`),
}

func badAdminPaths() []badRequest {
	good := `{"name":"x","memberCount":1,"ownerId":"100000000000000007"}`
	var all []badRequest
	for name, id := range badSnowflakes {
		all = append(all,
			badRequest{name, "GET", "/admin/guilds/" + id, "", 400, nil}, badRequest{name, "PUT", "/admin/guilds/" + id, good, 400, nil},
			badRequest{name, "DELETE", "/admin/guilds/" + id, "", 400, nil}, badRequest{name, "PUT", "/admin/keys/{key}/guilds/" + id, "", 400, nil},
			badRequest{name, "DELETE", "/admin/keys/{key}/guilds/" + id, "", 400, nil})
	}
	for name, q := range map[string]string{
		"limit 0": "limit=0", "limit 1001": "limit=1001", "limit negative": "limit=-1", "limit empty": "limit=", "limit word": "limit=all", "limit sign": "limit=%2B1",
		"limit fraction": "limit=1.0", "limit twice": "limit=1&limit=1", "after twice": "after=100000000000000007&after=100000000000000007", "malformed": "limit=%zz", "after empty": "after=",
	} {
		all = append(all, badRequest{name, "GET", "/admin/guilds?" + q, "", 400, nil}, badRequest{name, "GET", "/admin/keys?" + q, "", 400, nil})
	}
	return append(all,
		badRequest{"after word", "GET", "/admin/guilds?after=x", "", 400, nil},
		badRequest{"query twice", "DELETE", "/admin/guilds/{guild}?a=1&a=1", "", 400, nil},
		badRequest{"query twice", "DELETE", "/admin/keys/{key}?a=1&a=1", "", 400, nil},
		badRequest{"query twice", "POST", "/admin/keys?a=1&a=1", `{"name":"x","ownerId":"100000000000000007","permission":"read"}`, 400, nil},
		badRequest{"unknown guild", "GET", "/admin/guilds/100000000000000000", "", 404, nil},
		badRequest{"unknown guild", "DELETE", "/admin/guilds/100000000000000000", "", 404, nil},
		badRequest{"unknown guild", "PUT", "/admin/keys/{key}/guilds/100000000000000000", "", 404, nil},
		badRequest{"unknown key", "DELETE", "/admin/keys/000000000000", "", 404, nil},
		badRequest{"unknown key", "PUT", "/admin/keys/000000000000/guilds/{guild}", "", 404, nil},
		badRequest{"unknown key", "DELETE", "/admin/keys/000000000000/guilds/{guild}", "", 404, nil},
		badRequest{"grants of an unknown guild", "POST", "/admin/keys", keyWith(`"guildIds":["{guild}","100000000000000000"]`), 404, nil},
		badRequest{"a vanity that is taken", "PUT", "/admin/guilds/{guild}", guildWith(`"vanity":"taken"`), 409, nil},
		badRequest{"a vanity taken by a new guild", "PUT", "/admin/guilds/100000000000000000", guildWith(`"vanity":"taken"`), 409, nil},
		badRequest{"no such address", "GET", "/admin", "", 404, nil},
		badRequest{"no such address", "GET", "/admin/guilds/", "", 404, nil},
		badRequest{"no such method", "POST", "/admin/guilds", "", 405, nil},
		badRequest{"no such method", "PATCH", "/admin/guilds/{guild}", "", 405, nil},
		badRequest{"no such method", "PUT", "/admin/keys", "", 405, nil},
		badRequest{"no such method", "GET", "/admin/keys/{key}", "", 405, nil},
		badRequest{"no such method", "POST", "/admin/keys/{key}/guilds/{guild}", "", 405, nil},
	)
}
