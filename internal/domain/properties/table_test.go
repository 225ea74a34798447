package properties_test

import (
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/properties"
	"levelboard/internal/testing/docs"
)

var update = flag.Bool("update", false, "rewrite the table of docs/settings.md")

const (
	tableBegin = "<!-- properties: written by go test ./internal/domain/properties -update -->\n"
	tableEnd   = "<!-- end of properties -->\n"
)

func table() string {
	var b strings.Builder
	b.WriteString("| setting | in the document | |\n|---|---|---|\n")
	for _, section := range properties.Sections {
		for _, p := range properties.Table {
			if p.Section == section.ID {
				says := p.Hint
				for _, o := range properties.Options(p.Kind) {
					says += ". " + o.Label
				}
				fmt.Fprintf(&b, "| %s | `%s` | %s |\n", p.Label, p.Name, strings.TrimPrefix(says, ". "))
			}
		}
	}
	return b.String()
}

func TestDocumentationListsTheProperties(t *testing.T) {
	docs.Table(t, "../../../docs/settings.md", tableBegin, table(), tableEnd, "go test ./internal/domain/properties -update", *update)
}

// No page or command would show a property that the table lacks.
func TestTheTableHasEveryPropertyOfTheDocument(t *testing.T) {
	seen := map[string]bool{"id": true}
	for _, p := range properties.Table {
		if seen[p.Name] || p.Label == "" || p.Kind == nil {
			t.Errorf("the property %+v is listed twice, or lacks a label or a kind", p)
		}
		seen[p.Name] = true
	}
	for field := range reflect.TypeFor[guild.Settings]().Fields() {
		if name := field.Tag.Get("json"); !seen[name] {
			t.Errorf("the table lacks the document's property %s", name)
		}
		delete(seen, field.Tag.Get("json"))
	}
	if len(seen) > 0 {
		t.Errorf("the document lacks the table's properties %v", seen)
	}
}

func TestPropertiesAreShownInWords(t *testing.T) {
	words := map[string]string{}
	for _, fact := range properties.Facts(settings(t, document)) {
		words[fact.Label] += fact.Words + "|"
	}
	for label, want := range map[string]string{
		"Leveling": "on|", "Embedding": "off|", "Curve": "0.1 10.5 2|", "XP cooldown": "12.345 seconds|", "Multiplier": "2.5 for the channel help, news|0 for the role muted|",
		"Reward": "level 0:  (until the next reward)|level 10: Regular|", "Season": "spring: Spring, from 2027-03-01 to the day before 2027-06-01|", "Periods": "month, day|",
		"Ignored channels": "300000000000000001, 300000000000000002|", "Short name": "gophers|", "Member count": "42|",
	} {
		if words[label] != want {
			t.Errorf("%s is shown as %q, want %q", label, words[label], want)
		}
	}
}

func TestDifferencesAreShownInWords(t *testing.T) {
	got := (&properties.Known{}).Differences(
		[]byte(`{"xpPerMessageMax":71,"curve":"mee6","roleRewards":[{"id":"a","level":1,"stack":true,"roles":[]},{"id":"b","level":2,"stack":true,"roles":[]}],"multipliers":[{"id":"d","type":"Role","multiplier":2,"targets":[]}],"unknown":1}`),
		[]byte(`{"xpPerMessageMax":72,"curve":"mee6","roleRewards":[{"id":"c","level":3,"stack":true,"roles":[]},{"id":"b","level":2,"stack":false,"roles":[]}],"multipliers":[{"id":"e","type":"Role","multiplier":2,"targets":[]}],"xpGainInterval":60000}`))
	want := []properties.Difference{
		{"Maximum XP per message", "71", "72"}, {"XP cooldown", "", "1 minute"},
		{"Role rewards", "level 1: ; level 2: ", "level 3: ; level 2:  (until the next reward)"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the differences are %q, want %q", got, want)
	}
}
