package guilds_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/usecase/guilds"
)

// Who owns and who administers a guild decides who may use its settings.
func TestAManagerCannotSetTheOperatorsProperties(t *testing.T) {
	w := newWorld(t)
	for property, value := range map[string]string{
		"ownerId": `"300000000000000001"`, "adminIds": `["300000000000000001"]`, "name": `"Moles"`, "icon": `null`, "memberCount": `7`,
		"id": `"100000000000000002"`, "incarnation": `1`,
	} {
		given := guilds.Given{"enabled": jsontext.Value("true")}
		given[property] = jsontext.Value(value)
		if _, wrong, err := guilds.Propose(w.archive.guilds[gophers].Settings, given); !fault.Is(err, fault.Forbidden) {
			t.Errorf("proposing %s: %v, %v, want fault.Forbidden", property, wrong, err)
		}
	}
}

func TestAllErrorsAreReturned(t *testing.T) {
	w := newWorld(t)
	_, wrong, err := guilds.Propose(w.archive.guilds[gophers].Settings, guilds.Given{
		"xpPerMessageMin": jsontext.Value(`0`), "xpPerMessageMax": jsontext.Value(`"x"`), "curve": jsontext.Value(`[0,0]`),
		"roleRewards": jsontext.Value(`[{"level":1,"roles":[]},{"level":-1,"roles":[]},{"level":2,"roles":[{"id":"1","name":"x"}]}]`),
		"multipliers": jsontext.Value(`{}`), "enabled": jsontext.Value(`false`), "timeZone": jsontext.Value(`"Local"`), "periods": jsontext.Value(`["year"]`),
		"seasons": jsontext.Value(`[{"id":"a","name":"A","start":"2026-01-01","end":"2026-02-01"},{"id":"B","name":"B","start":"2026-03-01","end":"2026-04-01"},
			{"id":"c","name":"C","start":"2026-05-01","end":"2026-05-01"}]`),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, w := range wrong.Faults {
		got[w.Path] = w.Rule()
	}
	want := map[string]string{
		"xpPerMessageMin": "must be a whole number from 1 to 1000", "xpPerMessageMax": "must be a whole number from 1 to 1000, not a string",
		"curve":                "the curve must rise at every level: level 1 needs 0 XP, level 0 needs 0",
		"roleRewards[1].level": "must be a whole number from 0 to 10000", "multipliers": "must be an array, not an object",
		"roleRewards[2].roles[0].id": "must be 17 to 19 digits, the first not 0",
		"timeZone":                   "must be the name of a time zone of the IANA database, such as Europe/Berlin or UTC",
		"periods[0]":                 `must be "day", "week" or "month"`,
		"seasons[1].id":              "must be 1 to 32 of a to z, 0 to 9 and -",
		"seasons[2].end":             "must be 1 to 400 days after start, which is 2026-05-01; it is the first day after the season",
	}
	if len(got) != len(want) {
		t.Errorf("%d errors, want %d: %v", len(got), len(want), got)
	}
	for path, message := range want {
		if got[path] != message {
			t.Errorf("the error at %s is %q, want %q", path, got[path], message)
		}
	}
}
