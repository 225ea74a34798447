package guild_test

import (
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
)

const (
	uuidA   = `"6ba7b810-9dad-41d1-80b4-00c04fd430c8"`
	channel = `{"id":"200000000000000001","name":"help"}`
	role    = `{"id":"300000000000000001","name":"Regular"}`
	winter  = `{"id":"winter","name":"Snow","start":"2026-12-01","end":"2027-03-01"}`
	spring  = `{"id":"spring","name":"Rain","start":"2027-03-01","end":"2027-06-01"}`
)

func multiplier(more string) string {
	return with(`"multipliers":[{"type":"Channel","multiplier":1,` + more + `}]`)
}

func reward(more string) string {
	return with(`"roleRewards":[{"level":1,` + more + `}]`)
}

// rewards returns n rewards of this many roles each, all different.
func rewards(n, roles int) string {
	list := make([]string, n)
	for i := range list {
		of := make([]string, roles)
		for j := range of {
			of[j] = fmt.Sprintf(`{"id":"3000000000000%05d","name":"x"}`, i*roles+j)
		}
		list[i] = `{"level":1,"roles":[` + strings.Join(of, ",") + `]}`
	}
	return strings.Join(list, ",")
}

func season(more string) string {
	if more != "" {
		more = "," + more
	}
	return seasons(`{"id":"winter","name":"Winter"` + more + `}`)
}

func seasons(list ...string) string { return with(`"seasons":[` + strings.Join(list, ",") + `]`) }

func TestParseExplainsInvalidDocuments(t *testing.T) {
	const curve = "curve must be the name of a preset (default, amari or mee6) or an array of 2 to 5 coefficients"
	const snowflake = " must be 17 to 19 digits, the first not 0"
	const uuid = " must be a UUID, such as 6ba7b810-9dad-41d1-80b4-00c04fd430c8; leave it out to get a new one"
	const zone = "timeZone must be the name of a time zone of the IANA database, such as Europe/Berlin or UTC"
	const date = " must be a date in the years 1970 to 9999, such as 2026-12-01"
	for document, want := range map[string]string{
		``:                             "The body is empty; send a JSON value",
		`{}`:                           "name is required",
		`{"name":"x"}`:                 "memberCount is required",
		`{"name":"x","memberCount":1}`: "ownerId is required",
		`{"name":"","memberCount":1,"ownerId":"200000000000000001"}`:  "name must be a string of 1 to 400 bytes",
		`{"name":"` + strings.Repeat("é", 201) + `","memberCount":1}`: "name must be a string of 1 to 400 bytes",
		`{"name":"a\u0000b"}`:                                                 "name must not contain the character NUL",
		`{"name":"x","memberCount":0}`:                                        "memberCount must be a whole number from 1 to 2147483647",
		`{"name":"x","memberCount":1,"ownerId":"0200000000000000001"}`:        "ownerId" + snowflake,
		with(`"id":"100000000000000009"`):                                     "id must equal the id of the path, 100000000000000000; leave it out or correct it",
		with(`"id":null`):                                                     "id must not be null; it must be a string",
		with(`"version":1`):                                                   `"version" is not a property of the body`,
		with(`"ownerID":"200000000000000001"`):                                `"ownerID" is not a property of the body; write it as "ownerId"`,
		with(`"icon":""`):                                                     "icon must be an icon hash (32 lowercase letters or digits, with or without a_ before them) or null",
		with(`"enabled":null`):                                                "enabled must not be null; it must be true or false",
		with(`"visibility":"Public"`):                                         `visibility must be "public" or "private"`,
		with(`"vanity":"a"`):                                                  "vanity must be 2 to 32 letters (a to z) and digits",
		with(`"vanity":"02345678901234567"`):                                  "vanity must not be 17 to 19 digits alone, which would look like an id; add a letter",
		with(`"curve":null`):                                                  curve,
		with(`"curve":"Default"`):                                             curve,
		with(`"curve":{}`):                                                    curve,
		with(`"curve":[1]`):                                                   "curve must have 2 to 5 items",
		with(`"curve":[0,1,2,3,4,5]`):                                         "curve must have 2 to 5 items",
		with(`"curve":[0,0.5]`):                                               "the curve must rise at every level: level 2 needs 1 XP, level 1 needs 1",
		with(`"curve":[0,null]`):                                              "curve[1] must not be null; it must be a number",
		with(`"curve":[0,1e400]`):                                             "curve[1] is too large a number",
		with(`"xpGainInterval":9999`):                                         "xpGainInterval must be a whole number from 10000 to 86400000",
		with(`"xpGainInterval":86400001`):                                     "xpGainInterval must be a whole number from 10000 to 86400000",
		with(`"xpPerMessageMin":0`):                                           "xpPerMessageMin must be a whole number from 1 to 1000",
		with(`"xpPerMessageMax":1001`):                                        "xpPerMessageMax must be a whole number from 1 to 1000",
		with(`"xpPerMessageMin":41`):                                          "xpPerMessageMin must not be above xpPerMessageMax, but 41 is above 40; set both",
		with(`"xpGlobalMultiplier":5.01`):                                     "xpGlobalMultiplier must be a number from 0 to 5",
		with(`"xpGlobalMultiplier":-0.01`):                                    "xpGlobalMultiplier must be a number from 0 to 5",
		with(`"adminIds":["x"]`):                                              "adminIds[0]" + snowflake,
		with(`"adminIds":["200000000000000001","200000000000000001"]`):        "adminIds[1] repeats 200000000000000001; remove one of them",
		with(`"ignoredChannelIds":["200000000000000001","1"]`):                "ignoredChannelIds[1]" + snowflake,
		with(`"ignoredRoleIds":["200000000000000001","200000000000000001"]`):  "ignoredRoleIds[1] repeats 200000000000000001; remove one of them",
		with(`"ignoredUserIds":["200000000000000001","1"]`):                   "ignoredUserIds[1]" + snowflake,
		with(`"ignoredUserIds":["200000000000000001","200000000000000001"]`):  "ignoredUserIds[1] repeats 200000000000000001; remove one of them",
		with(`"multipliers":[{"multiplier":1,"targets":[]}]`):                 "multipliers[0].type is required",
		with(`"multipliers":[{"type":"User","multiplier":1,"targets":[]}]`):   `multipliers[0].type must be "Channel" or "Role"`,
		with(`"multipliers":[{"type":"Role","multiplier":5.1,"targets":[]}]`): "multipliers[0].multiplier must be a number from 0 to 5",
		with(`"multipliers":[{"type":"Role","multiplier":1,"targets":[{"id":"300000000000000001","name":"x","type":0}]}]`): `"type" is not a property of multipliers[0].targets[0]`,
		multiplier(`"targets":null`):                                                    "multipliers[0].targets must not be null; it must be an array",
		multiplier(`"id":null,"targets":[]`):                                            "multipliers[0].id must not be null; it must be a string",
		multiplier(`"id":"x","targets":[]`):                                             "multipliers[0].id" + uuid,
		multiplier(`"id":"urn:uuid:6ba7b810-9dad-41d1-80b4-00c04fd430c8","targets":[]`): "multipliers[0].id" + uuid,
		multiplier(`"id":"6ba7b8109dad41d180b400c04fd430c8","targets":[]`):              "multipliers[0].id" + uuid,
		multiplier(`"id":` + uuidA + `,"targets":[]},{"type":"Role","multiplier":1,"id":` + strings.ToUpper(uuidA) + `,"targets":[]`):                       "multipliers[1].id repeats an id of the same list; leave it out to get a new one",
		multiplier(`"targets":[` + channel + `,` + channel + `]`):                                                                                           "multipliers[0].targets[1].id repeats 200000000000000001; remove one of them",
		multiplier(`"targets":[` + channel + `]},{"type":"Role","multiplier":1,"targets":[]},{"type":"Channel","multiplier":2,"targets":[` + channel + `]`): "multipliers[2].targets[0].id repeats 200000000000000001 of multipliers[0]; remove one of them",
		with(`"multipliers":[{"type":"Role","multiplier":1,"targets":[` + role + `]},{"type":"Role","multiplier":1,"targets":[` + role + `]}]`):             "multipliers[1].targets[0].id repeats 300000000000000001 of multipliers[0]; remove one of them",
		multiplier(`"targets":[{"id":"200000000000000001"}]`):                                                                                               "multipliers[0].targets[0].name is required",
		multiplier(`"targets":[{"id":"200000000000000001","name":"x","parentId":"x"}]`):                                                                     "multipliers[0].targets[0].parentId must be 17 to 19 digits, the first not 0",
		multiplier(`"targets":[{"id":"200000000000000001","name":"x","position":-1}]`):                                                                      "multipliers[0].targets[0].position must be a whole number from 0 to 2147483647",
		multiplier(`"targets":[{"id":"200000000000000001","name":"x","color":1}]`):                                                                          `"color" is not a property of multipliers[0].targets[0]`,
		multiplier(`"targets":[{"id":"200000000000000001","name":"x","name":"x"}]`):                                                                         "multipliers[0].targets[0].name is given twice",
		with(`"roleRewards":[{"roles":[]}]`):                                                                                                                "roleRewards[0].level is required",
		with(`"roleRewards":[{"level":10001,"roles":[]}]`):                                                                                                  "roleRewards[0].level must be a whole number from 0 to 10000",
		reward(`"stack":true`):                                                            "roleRewards[0].roles is required",
		reward(`"roles":[` + role + `,` + role + `]`):                                     "roleRewards[0].roles[1].id repeats 300000000000000001; remove one of them",
		reward(`"roles":[{"id":"300000000000000001","name":"x","color":16777216}]`):       "roleRewards[0].roles[0].color must be a whole number from 0 to 16777215",
		reward(`"roles":["300000000000000001"]`):                                          "roleRewards[0].roles[0] must be an object, not a string",
		reward(`"roles":[]},` + rewards(126, 2) + `,{"level":2,"roles":[]`):               "roleRewards must name at most 250 different roles, as many as a guild can have, not 252",
		reward(`"stack":null,"roles":[]`):                                                 "roleRewards[0].stack must not be null; it must be true or false",
		reward(`"id":` + uuidA + `,"roles":[]},{"level":2,"id":` + uuidA + `,"roles":[]`): "roleRewards[1].id repeats an id of the same list; leave it out to get a new one",

		with(`"timeZone":null`):                     "timeZone must not be null; it must be a string",
		with(`"timeZone":""`):                       "timeZone must be a string of 1 to 64 bytes",
		with(`"timezone":"UTC"`):                    `"timezone" is not a property of the body; write it as "timeZone"`,
		with(`"timeZone":"Local"`):                  zone,
		with(`"timeZone":"Europe/Atlantis"`):        zone,
		with(`"timeZone":"europe/berlin"`):          zone,
		with(`"timeZone":"+01:00"`):                 zone,
		with(`"timeZone":"Europe"`):                 zone,
		with(`"timeZone":"Europe//Berlin"`):         zone,
		with(`"timeZone":"Europe/Berlin/"`):         zone,
		with(`"timeZone":"/etc/localtime"`):         zone,
		with(`"timeZone":"../zoneinfo/UTC"`):        zone,
		with(`"timeZone":"right/UTC"`):              zone,
		with(`"timeZone":"localtime"`):              zone,
		with(`"periods":null`):                      "periods must not be null; it must be an array",
		with(`"periods":"day"`):                     "periods must be an array, not a string",
		with(`"periods":["day","season"]`):          `periods[1] must be "day", "week" or "month"`,
		with(`"periods":["Day"]`):                   `periods[0] must be "day", "week" or "month"`,
		with(`"periods":["day","week","day"]`):      "periods[2] repeats day; remove one of them",
		with(`"periods":["day","week","month",""]`): "periods must have at most 3 items",

		with(`"seasons":{}`):           "seasons must be an array, not an object",
		with(`"seasons":[{}]`):         "seasons[0].id is required",
		season(``):                     "seasons[0].start is required",
		season(`"start":"2026-12-01"`): "seasons[0].end is required",
		season(`"start":"2026-12-01","end":"2026-12-02","kind":"x"`):                             `"kind" is not a property of seasons[0]`,
		season(`"start":20261201,"end":"2026-12-02"`):                                            "seasons[0].start must be a string, not a number",
		season(`"start":"2026-12-1","end":"2026-12-02"`):                                         "seasons[0].start" + date,
		season(`"start":"2026-02-29","end":"2026-12-02"`):                                        "seasons[0].start" + date,
		season(`"start":"2026-12-01","end":"2026-12-02T00:00:00Z"`):                              "seasons[0].end" + date,
		season(`"start":"1969-12-31","end":"1970-01-02"`):                                        "seasons[0].start" + date,
		season(`"start":"2026-12-01","end":"2026-12-01"`):                                        "seasons[0].end must be 1 to 400 days after start, which is 2026-12-01; it is the first day after the season",
		season(`"start":"2026-12-01","end":"2026-11-01"`):                                        "seasons[0].end must be 1 to 400 days after start, which is 2026-12-01; it is the first day after the season",
		season(`"start":"2026-12-01","end":"2028-01-06"`):                                        "seasons[0].end must be 1 to 400 days after start, which is 2026-12-01; it is the first day after the season",
		seasons(winter, strings.Replace(winter, "winter", "Winter", 1)):                          "seasons[1].id must be 1 to 32 of a to z, 0 to 9 and -",
		seasons(strings.Replace(winter, "winter", "", 1)):                                        "seasons[0].id must be 1 to 32 of a to z, 0 to 9 and -",
		seasons(strings.Replace(winter, "Snow", "", 1)):                                          "seasons[0].name must be a string of 1 to 400 bytes",
		seasons(strings.Replace(winter, "Snow", `a\u0000`, 1)):                                   "seasons[0].name must not contain the character NUL",
		seasons(strings.Replace(winter, "Snow", strings.Repeat("x", 101), 1)):                    "seasons[0].name must be at most 100 characters long",
		seasons(strings.Replace(winter, "Snow", strings.Repeat("🌱", 101), 1)):                    "seasons[0].name must be a string of 1 to 400 bytes",
		seasons(winter, strings.Replace(winter, "2026-12-01", "2027-02-28", 1)):                  "seasons[1].id repeats winter; give each season an id of its own",
		seasons(spring, strings.Replace(winter, "2027-03-01", "2027-03-02", 1)):                  "seasons[1] overlaps seasons[0], whose start is 2027-03-01 and whose end is 2027-06-01; move one of them",
		seasons(winter, spring, `{"id":"x","name":"x","start":"2027-01-01","end":"2027-01-02"}`): "seasons[2] overlaps seasons[0], whose start is 2026-12-01 and whose end is 2027-03-01; move one of them",
		seasons(`{"id":"x","name":"x","start":"2027-01-01","end":"2027-01-02"}`, winter):         "seasons[1] overlaps seasons[0], whose start is 2027-01-01 and whose end is 2027-01-02; move one of them",
	} {
		s, err := guild.Parse(gid, []byte(document))
		if err == nil {
			t.Errorf("the document %.200s is accepted as %+v", document, s)
			continue
		}
		if f := fault.From(err); f.Code != fault.Invalid || f.Message != want {
			t.Errorf("the document %.200s gives\n%q (code %d)\nwant %q", document, f.Message, f.Code, want)
		}
	}
}
