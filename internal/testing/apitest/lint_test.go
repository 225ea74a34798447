package apitest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func TestTheDescriptionPassesTheLint(t *testing.T) { lintDescription(t) }

// Answers are checked by their schemas only, so the schemas must refuse wrong values. Each case changes an example of the description to an
// invalid one.
func TestSchemasRefuseWrongValues(t *testing.T) {
	doc := loadDocument(t)
	example := func(path string, status int) string {
		media := doc.Paths.Value(path).Get.Responses.Status(status).Value.Content["application/json"]
		shown := media.Example
		for _, one := range media.Examples {
			shown = one.Value.Value
		}
		encoded, err := json.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		return string(encoded)
	}
	board, member := example("/v2/levels/{entry}", 200), example("/v2/levels/{guildId}/users/{userId}", 200)
	settings := example("/admin/guilds/{guildId}", 200)
	cases := []struct{ name, schema, valid, from, to string }{
		{"stray property", "Leaderboard", board, `"isManager":`, `"stray":1,"isManager":`},
		{"stray property deep down", "Leaderboard", board, `"discriminator":`, `"stray":1,"discriminator":`},
		{"accentColour on a member", "MemberAnswer", member, `"discriminator":`, `"accentColour":null,"discriminator":`},
		{"no accentColour on the board", "Leaderboard", board, `"accentColour":null,`, ``},
		{"null where it may not be", "Leaderboard", board, `"isManager":false`, `"isManager":null`},
		{"a string for a number", "Leaderboard", board, `"rank":1`, `"rank":"1"`},
		{"rank 0", "Leaderboard", board, `"rank":1`, `"rank":0`},
		{"progress over 100", "Leaderboard", board, `"progress":5.263157894736842`, `"progress":100.5`},
		{"level over 10000", "MemberAnswer", member, `"level":10,`, `"level":10001,`},
		{"XP over the limit", "MemberAnswer", member, `"xp":4200`, `"xp":2147483648`},
		{"fraction of an XP", "MemberAnswer", member, `"xp":4200`, `"xp":4200.5`},
		{"short snowflake", "Leaderboard", board, `"userId":"100000000000000002"`, `"userId":"1000000000000000"`},
		{"local time", "MemberAnswer", member, `12:00:00Z`, `12:00:00+01:00`},
		{"not a date", "MemberAnswer", member, `2026-01-01T`, `2026-13-41T`},
		{"bad avatar", "MemberAnswer", member, `"a_0123`, `"A_0123`},
		{"vanity in upper case", "Leaderboard", board, `"gophers"`, `"Gophers"`},
		{"vanity like an id", "Leaderboard", board, `"gophers"`, `"01234567890123456"`},
		{"multiplier over 5", "Leaderboard", board, `"multiplier":2`, `"multiplier":5.5`},
		{"channel targets of a role multiplier", "Leaderboard", board, `"type":"Channel"`, `"type":"Role"`},
		{"id that is no UUID", "Leaderboard", board, `"id":"6b1f1c7e-`, `"id":"6b1f1c7e`},
		{"cooldown in seconds", "Leaderboard", board, `"xpGainInterval":60000`, `"xpGainInterval":60`},
		{"unknown preset", "Guild", settings, `"curve":"default"`, `"curve":"steep"`},
		{"one coefficient", "Guild", settings, `"curve":"default"`, `"curve":[1]`},
		{"stray setting", "Guild", settings, `"curve":`, `"stray":1,"curve":`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(c.valid, c.from, c.to, 1)
			if changed == c.valid {
				t.Fatalf("the example lacks %s, which the case replaces: %s", c.from, c.valid)
			}
			schema := doc.Components.Schemas[c.schema].Value
			visit := func(text string) error {
				var value any
				if err := json.Unmarshal([]byte(text), &value); err != nil {
					t.Fatal(err)
				}
				return schema.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.VisitAsResponse())
			}
			if err := visit(c.valid); err != nil {
				t.Fatalf("the unchanged example is refused: %v", err)
			}
			if visit(changed) == nil {
				t.Fatalf("the invalid value is accepted: %s", changed)
			}
		})
	}
}
