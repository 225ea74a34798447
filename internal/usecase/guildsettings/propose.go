package guildsettings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
)

// Given is what a manager wants to set: properties of the guild's document, as JSON.
type Given map[string]jsontext.Value

// own are the properties that are a manager's. The rest is the operator's, or their bot's, and mirrors the chat platform:
// name, icon and memberCount, so that no community can pose as another; and above all ownerId and adminIds, which decide who
// manages the guild even when the platform says otherwise. A manager who could write them could take the guild from its owner,
// or keep themselves in after they lost their rights.
var own = []string{
	"enabled", "visibility", "embedding", "vanity", "curve", "xpGainInterval", "xpPerMessageMin", "xpPerMessageMax", "xpGlobalMultiplier",
	"ignoredChannelIds", "ignoredRoleIds", "ignoredUserIds", "multipliers", "roleRewards", "timeZone", "periods", "seasons",
}

// pairs are properties that bound each other, so that one alone cannot be judged beside what is saved.
var pairs = map[string]string{"xpPerMessageMin": "xpPerMessageMax", "xpPerMessageMax": "xpPerMessageMin"}

// rows are the properties whose items are judged one by one, with a right value for each property of an item: it takes the place of a wrong one, so
// that the others are judged too.
var rows = map[string]map[string]string{
	"multipliers": {"type": `"Channel"`, "multiplier": `1`, "targets": `[]`},
	"roleRewards": {"level": `0`, "roles": `[]`},
	"seasons":     {"id": `"x"`, "name": `"x"`, "start": `"2000-01-01"`, "end": `"2000-01-02"`},
}

// Wrong is one thing that cannot be saved as it is.
type Wrong struct {
	Path    string // in the document, such as roleRewards[0].level; empty when it is about all of it
	Message string // a sentence about what is there, such as: must be a whole number from 0 to 10000
	Cause   error  // guild.ErrCrossed or id.ErrSnowflake when it is that, for callers that need other words
}

// Proposal is valid settings of one guild, which only Propose makes.
type Proposal struct{ settings guild.Settings }

// Settings returns what would be saved.
func (p Proposal) Settings() guild.Settings { return p.settings }

// Propose puts what is given in the place of what is saved, and keeps the rest. It reads the result as the operator's
// document is read (guild.Parse), so a manager's settings are held to the same rules. When it cannot be saved, wrong says
// everything that is wrong in what was given: one thing for each property, also of each row of a list.
func Propose(saved guild.Settings, given Given) (p Proposal, wrong []Wrong, err error) {
	encoded, err := guild.Marshal(saved)
	if err != nil {
		return Proposal{}, nil, err
	}
	document := Given{}
	if err := json.Unmarshal(encoded, &document); err != nil {
		return Proposal{}, nil, fmt.Errorf("read the saved settings of guild %s: %w", saved.ID, err)
	}
	whole, judged := maps.Clone(document), 0
	for _, property := range own {
		if value, ok := given[property]; ok {
			whole[property] = value
			judged++
		}
	}
	if judged != len(given) {
		return Proposal{}, nil, fault.New(fault.Forbidden, "Something was sent that is not for a manager to set, so nothing was saved.")
	}
	if p.settings, err = parse(saved, whole); err == nil {
		return p, nil, nil
	}
	j := judge{saved: saved, given: given, base: Given{"name": document["name"], "memberCount": document["memberCount"], "ownerId": document["ownerId"]}}
	for _, property := range own {
		if value, ok := given[property]; ok {
			wrong = append(wrong, j.property(property, value)...)
		}
	}
	if len(wrong) == 0 {
		wrong = []Wrong{wrongOf(err, "")}
	}
	return Proposal{}, wrong, nil
}

func parse(saved guild.Settings, document Given) (guild.Settings, error) {
	body, err := json.Marshal(document)
	if err != nil {
		return guild.Settings{}, fault.Wrap(err, fault.Invalid, "It is not valid JSON")
	}
	return guild.Parse(saved.ID, body)
}

// judge finds out what is wrong with each property by itself, beside a document that is short and right.
type judge struct {
	saved guild.Settings
	given Given
	base  Given
}

func (j judge) property(property string, value jsontext.Value) (wrong []Wrong) {
	if partner, ok := pairs[property]; ok {
		if wrong := j.try(property, Given{property: value, partner: value}); len(wrong) > 0 {
			return []Wrong{{Path: property, Message: wrong[0].Message}}
		}
		return j.crossed(property, partner)
	}
	var items []jsontext.Value
	if rows[property] != nil && json.Unmarshal(value, &items) == nil {
		for i, item := range items {
			wrong = append(wrong, j.item(property, i, item)...)
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	return j.try(property, Given{property: value})
}

// crossed reports two properties that are right by themselves, when the second of them is judged.
func (j judge) crossed(property, partner string) []Wrong {
	other, ok := j.given[partner]
	if !ok || slices.Index(own, property) < slices.Index(own, partner) {
		return nil
	}
	wrong := j.try(property, Given{property: j.given[property], partner: other})
	return slices.DeleteFunc(wrong, func(w Wrong) bool { return !errors.Is(w.Cause, guild.ErrCrossed) })
}

// item finds everything that is wrong with one item of a list.
func (j judge) item(property string, i int, item jsontext.Value) (wrong []Wrong) {
	for range len(rows[property]) + 1 {
		found := j.try(property, Given{property: jsontext.Value("[" + string(item) + "]")})
		if len(found) == 0 {
			break
		}
		w := found[0]
		inItem, _ := strings.CutPrefix(w.Path, property+"[0].")
		name, _, _ := strings.Cut(inItem, "[")
		// An end is too far from the start that took the place of a wrong one, unless it is wrong as that was.
		if last := len(wrong) - 1; name != "end" || last < 0 || !strings.HasSuffix(wrong[last].Path, ".start") || wrong[last].Message == w.Message {
			w.Path = strings.Replace(w.Path, property+"[0]", fmt.Sprintf("%s[%d]", property, i), 1)
			wrong = append(wrong, w)
		}
		fields := Given{}
		if rows[property][name] == "" || json.Unmarshal(item, &fields) != nil {
			break
		}
		fields[name] = jsontext.Value(rows[property][name])
		item, _ = json.Marshal(fields)
	}
	return wrong
}

func (j judge) try(property string, given Given) []Wrong {
	document := maps.Clone(j.base)
	maps.Copy(document, given)
	if _, err := parse(j.saved, document); err != nil {
		return []Wrong{wrongOf(err, property)}
	}
	return nil
}

// wrongOf says what err found wrong, of the property when err names no part of the document.
func wrongOf(err error, property string) Wrong {
	f := fault.From(err)
	w := Wrong{Path: f.Path, Message: f.Rule(), Cause: f.Cause}
	if w.Path == "" {
		w.Path = property
	}
	return w
}
