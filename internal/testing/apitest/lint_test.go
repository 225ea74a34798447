package apitest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func TestTheDescriptionIsSound(t *testing.T) { lintDescription(t) }

// The lint is only worth something if it can fail: each case spoils one thing and names what must be reported.
func TestLintFindsWhatIsSpoiled(t *testing.T) {
	member := "/v2/levels/{guildId}/users/{userId}"
	cases := map[string]struct {
		spoil func(*openapi3.T)
		want  string
	}{
		"no operationId":   {func(d *openapi3.T) { d.Paths.Value(member).Get.OperationID = "" }, "has no operationId"},
		"same operationId": {func(d *openapi3.T) { d.Paths.Value(member).Get.OperationID = "createMember" }, "same operationId"},
		"no summary":       {func(d *openapi3.T) { d.Paths.Value(member).Get.Summary = "" }, "has no summary"},
		"unknown tag":      {func(d *openapi3.T) { d.Paths.Value(member).Get.Tags = []string{"Nope"} }, "must have one tag"},
		"no security":      {func(d *openapi3.T) { d.Paths.Value(member).Get.Security = nil }, "which credentials"},
		"no 429":           {func(d *openapi3.T) { d.Paths.Value(member).Get.Responses.Delete("429") }, "does not document 429"},
		"no 413":           {func(d *openapi3.T) { d.Paths.Value(member).Patch.Responses.Delete("413") }, "does not document 413"},
		"same path": {func(d *openapi3.T) {
			d.Paths.Set("/v2/levels/{guildId}/users/{other}", d.Paths.Value(member))
		}, "are the same path"},
		"no limit header": {func(d *openapi3.T) {
			delete(d.Paths.Value(member).Get.Responses.Status(200).Value.Headers, "X-RateLimit-Reset")
		}, "does not require the header X-RateLimit-Reset"},
		"no Retry-After": {func(d *openapi3.T) {
			delete(d.Components.Responses["TooManyRequests"].Value.Headers, "Retry-After")
		}, "does not require the header Retry-After"},
		"other failure body": {func(d *openapi3.T) {
			d.Components.Responses["NotFound"].Value.Content["application/json"].Schema.Ref = "#/components/schemas/User"
		}, "does not answer the {message} body"},
		"no example": {func(d *openapi3.T) {
			d.Paths.Value(member).Get.Responses.Status(200).Value.Content["application/json"].Example = nil
		}, "has no example"},
		"open object": {func(d *openapi3.T) {
			d.Components.Schemas["LevelRecord"].Value.UnevaluatedProperties = openapi3.BoolSchema{}
		}, "takes unknown properties"},
		"optional property": {func(d *openapi3.T) {
			d.Components.Schemas["LevelRecord"].Value.Required = []string{"xp"}
		}, "rank of #/components/schemas/LevelRecord is not required"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			doc := loadDocument(t)
			if problems := lint(doc); len(problems) != 0 {
				t.Fatalf("unspoiled, it reports %v", problems)
			}
			c.spoil(doc)
			if all := strings.Join(lint(doc), "\n"); !strings.Contains(all, c.want) {
				t.Fatalf("it reports %q, want %q", all, c.want)
			}
		})
	}
}

func TestLintFindsWhatClientsStumbleOver(t *testing.T) {
	const sound = `{"paths":{"/a":{"schema":{"$ref":"#/components/schemas/A"},"example":{"type":"number","oneOf":[{}]}}},
		"components":{"securitySchemes":{"key":{}},"schemas":{
			"A":{"oneOf":[{"$ref":"#/components/schemas/B"},{"type":"null"}]},
			"B":{"properties":{"n":{"type":["number","null"],"format":"double","default":null},"m":{"type":"integer"},"d":{"$ref":"#/components/schemas/D"}},"required":["m"]},
			"D":{"type":"string","default":"d"}}}}`
	for from, c := range map[string]struct{ to, want string }{
		``:                                 {``, ``},
		`"required":["m"]`:                 {`"required":["m","n"]`, "#/components/schemas/B/properties/n has a default and is required"},
		`"m":{"type":"integer"}`:           {`"m":{"type":"integer","default":1}`, "properties/m has a default and is required"},
		`["m"]`:                            {`["m","d"]`, "properties/d has a default and is required"},
		`"format":"double",`:               {``, "properties/n is a number without the format double"},
		`{"type":"integer"}`:               {`{"type":"number"}`, "properties/m is a number without the format double"},
		`{"type":"null"}`:                  {`{"type":"string"}`, "A/oneOf[1] is a variant without a name"},
		`"$ref":"#/components/schemas/D"`:  {`"type":"string"`, "#/components/schemas/D is not used by anything"},
		`"schema":{"$ref":"#/components/s`: {`"schema":{"$ref":"#/components/x`, "#/components/schemas/A is not used by anything"},
	} {
		var document map[string]any
		if err := json.Unmarshal([]byte(strings.Replace(sound, from, c.to, 1)), &document); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(lintForClients(document), "\n")
		if c.want == "" && all != "" || !strings.Contains(all, c.want) {
			t.Errorf("with %s for %s it reports %q, want %q", c.to, from, all, c.want)
		}
	}
}

// Answers are checked by the schemas alone, so the schemas have to refuse what they should: each case changes an example of
// the description into something that must not pass.
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
				t.Fatalf("%s does not stand in %s", c.from, c.valid)
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
				t.Fatalf("unchanged, it is refused: %v", err)
			}
			if visit(changed) == nil {
				t.Fatalf("%s is accepted", changed)
			}
		})
	}
}
