package properties_test

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
)

const document = `{"name":"Gophers","memberCount":42,"ownerId":"900000000000000001","vanity":"gophers","curve":[0.1,10.5,2],"xpGainInterval":12345,
"ignoredChannelIds":["300000000000000001","300000000000000002"],"multipliers":[
{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","type":"Channel","multiplier":2.5,"targets":[{"id":"300000000000000003","name":"help","position":3},{"id":"300000000000000004","name":"news"}]},
{"id":"6ba7b811-9dad-41d1-80b4-00c04fd430c8","type":"Role","multiplier":0,"targets":[{"id":"400000000000000002","name":"muted","color":255}]}],
"roleRewards":[{"id":"6ba7b812-9dad-41d1-80b4-00c04fd430c8","level":0,"stack":false,"roles":[]},
{"id":"6ba7b813-9dad-41d1-80b4-00c04fd430c8","level":10,"roles":[{"id":"400000000000000003","name":"Regular"}]}],
"periods":["month","day"],"seasons":[{"id":"spring","name":"Spring","start":"2027-03-01","end":"2027-06-01"}]}`

func settings(t *testing.T, document string) *guild.Settings {
	t.Helper()
	s, err := guild.Parse(id.Guild("200000000000000001"), []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// sent returns the form as a browser sends it.
func sent(f properties.Form) properties.Form {
	values := url.Values{}
	for name, value := range f.Fields {
		values.Set(name, strings.ReplaceAll(value, "\n", "\r\n"))
	}
	for list, rows := range f.Rows {
		for i, row := range rows {
			for name, value := range row {
				values.Set(properties.Field(list, i, name), strings.ReplaceAll(value, "\n", "\r\n"))
			}
		}
	}
	return properties.Read(values)
}

func TestAMergeConflictsWhereBothChanged(t *testing.T) {
	const first, second = `"6ba7b812-9dad-41d1-80b4-00c04fd430c8","level":0`, `"6ba7b813-9dad-41d1-80b4-00c04fd430c8","level":10`
	drop := func(f properties.Form, list string, row int) {
		f.Rows[list] = append(f.Rows[list][:row:row], f.Rows[list][row+1:]...)
	}
	both := fmt.Sprintf(`{"id":%s,"stack":false,"roles":[]},
{"id":%s,"roles":[{"id":"400000000000000003","name":"Regular"}]}`, first, second)
	for name, c := range map[string]struct {
		theirs, becomes string // changes and result in the document
		mine            func(f properties.Form)
		conflicts       string // as "label: saved, mine"
		now             func(f properties.Form) any
		want            any
	}{
		"apart": {
			`"xpGainInterval":12345`, `"xpGainInterval":60000`, func(f properties.Form) { f.Fields["vanity"] = "moles" }, "",
			func(f properties.Form) any {
				return f.Fields["vanity"] + f.Fields["xpGainInterval"] + f.Fields["xpGainInterval.unit"]
			}, "moles1minutes",
		},
		"the same": {
			`"vanity":"gophers"`, `"vanity":"moles"`, func(f properties.Form) { f.Fields["vanity"] = " Moles " }, "",
			func(f properties.Form) any { return f.Fields["vanity"] }, "moles",
		},
		"one property": {
			`"vanity":"gophers"`, `"vanity":"moles"`, func(f properties.Form) { f.Fields["vanity"] = "voles" }, "Short name: moles, voles;",
			func(f properties.Form) any { return f.Fields["vanity"] }, "voles",
		},
		"some of the periods": {
			`["month","day"]`, `["day"]`, func(f properties.Form) { f.Fields["vanity"] = "voles" }, "",
			func(f properties.Form) any { return f.Fields["periods[month]"] + f.Fields["periods[day]"] }, "on",
		},
		"ids that each adds and removes": {
			`"300000000000000001","300000000000000002"`, `"300000000000000002","300000000000000003","300000000000000005"`, func(f properties.Form) {
				f.Fields["ignoredChannelIds"] = "300000000000000001\n300000000000000004 four\n300000000000000005"
			}, "", func(f properties.Form) any { return f.Fields["ignoredChannelIds"] }, "300000000000000003 help\n300000000000000005\n300000000000000004 news\n",
		},
		"periods that each adds and removes": {
			`["month","day"]`, `["month","week"]`, func(f properties.Form) { f.Fields["periods[month]"] = "" }, "",
			func(f properties.Form) any {
				return f.Fields["periods[day]"] + "," + f.Fields["periods[week]"] + "," + f.Fields["periods[month]"]
			}, ",on,",
		},
		"two rows": {
			first, strings.Replace(first, ":0", ":1", 1), func(f properties.Form) { f.Rows["roleRewards"][1]["level"] = "11" }, "",
			func(f properties.Form) any {
				return f.Rows["roleRewards"][0]["level"] + " " + f.Rows["roleRewards"][1]["level"]
			}, "1 11",
		},
		"one row": {
			second, strings.Replace(second, ":10", ":20", 1), func(f properties.Form) { f.Rows["roleRewards"][1]["level"] = "30" },
			"Role rewards: level 20: Regular, level 30: Regular;", func(f properties.Form) any { return f.Rows["roleRewards"][1]["level"] }, "30",
		},
		"a row that they removed": {
			both, "", func(f properties.Form) { f.Rows["roleRewards"][1]["level"] = "30" }, "Role rewards: removed, level 30: Regular;",
			func(f properties.Form) any { return len(f.Rows["roleRewards"]) }, 1,
		},
		"a row that is removed here": {
			second, strings.Replace(second, ":10", ":20", 1), func(f properties.Form) { drop(f, "roleRewards", 1); drop(f, "multipliers", 0) },
			"Role rewards: level 20: Regular, removed;", func(f properties.Form) any { return fmt.Sprint(len(f.Rows["roleRewards"]), len(f.Rows["multipliers"])) }, "1 1",
		},
		"a row that both removed": {
			both, "", func(f properties.Form) { drop(f, "roleRewards", 0) }, "", func(f properties.Form) any { return len(f.Rows["roleRewards"]) }, 0,
		},
		"new rows": {
			`"seasons":[`, `"seasons":[{"id":"summer","name":"S","start":"2027-06-01","end":"2027-09-01"},`, func(f properties.Form) {
				f.Edit("add-season")
				f.Rows["seasons"][1]["id"] = "autumn"
			}, "", func(f properties.Form) any {
				return f.Rows["seasons"][0]["id"] + f.Rows["seasons"][1]["id"] + f.Rows["seasons"][2]["id"]
			}, "summerspringautumn",
		},
		"a new row with the same id in both": {
			`"seasons":[`, `"seasons":[{"id":"summer","name":"S","start":"2027-06-01","end":"2027-09-01"},`, func(f properties.Form) {
				f.Edit("add-season")
				f.Rows["seasons"][1]["id"] = "summer"
			}, "Seasons: summer: S, from 2027-06-01 to the day before 2027-09-01, summer: , from  to the day before ;",
			func(f properties.Form) any { return len(f.Rows["seasons"]) }, 2,
		},
		"a new row that is saved already": {
			`"roleRewards":[`, `"roleRewards":[{"level":30,"roles":[{"id":"400000000000000009","name":"nine"}]},`, func(f properties.Form) {
				f.Edit("add-reward")
				f.Rows["roleRewards"][2]["level"], f.Rows["roleRewards"][2]["roles"] = "30", "400000000000000009"
			}, "", func(f properties.Form) any { return len(f.Rows["roleRewards"]) }, 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := properties.Know(settings(t, document), guild.Directory{})
			mine := sent(before.Filled(5))
			c.mine(mine)
			after := properties.Know(settings(t, strings.Replace(document, c.theirs, c.becomes, 1)), guild.Directory{})
			text := ""
			for _, conflict := range after.Merge(mine, 6) {
				text += fmt.Sprintf("%s: %s, %s;", conflict.Label, conflict.Saved, conflict.Mine)
			}
			if text != c.conflicts {
				t.Errorf("the conflicts are %q, want %q", text, c.conflicts)
			}
			if got := c.now(mine); !reflect.DeepEqual(got, c.want) {
				t.Errorf("the form has %v, want %v", got, c.want)
			}
			// Merging the same form again changes nothing.
			if again := after.Merge(mine, 6); len(again) > 0 || !mine.IsOf(6) {
				t.Errorf("merging again gives the conflicts %v, want none", again)
			}
		})
	}
}

// A user may choose the saved value for each conflict.
func TestAConflictMayKeepTheSavedValue(t *testing.T) {
	before := properties.Know(settings(t, document), guild.Directory{})
	mine := sent(before.Filled(5))
	mine.Fields["curve"], mine.Fields["ignoredChannelIds[add]"] = "amari", "half typed"
	mine.Rows["roleRewards"][0]["level"] = "30"
	mine.Rows["roleRewards"] = mine.Rows["roleRewards"][:1]
	theirs := strings.NewReplacer(`"curve":[0.1,10.5,2]`, `"curve":[5,6]`, `"level":10`, `"level":20`, `"level":0`, `"level":1`).Replace(document)
	after := properties.Know(settings(t, theirs), guild.Directory{})
	conflicts := after.Merge(mine, 6)
	if len(conflicts) != 3 {
		t.Fatalf("the conflicts are %v, want 3", conflicts)
	}
	for _, conflict := range conflicts {
		after.TakeSaved(mine, conflict.Key)
	}
	if !after.Same(mine, after.Filled(6)) || mine.Fields["ignoredChannelIds[add]"] != "half typed" {
		t.Errorf("the form is %v, want the saved values and the half-typed line", mine)
	}
}

// A form of an unknown version changes nothing silently.
func TestAFormOfAnUnknownVersionConflictsEverywhere(t *testing.T) {
	k := properties.Know(settings(t, document), guild.Directory{})
	for _, version := range []string{"", "0", "x"} {
		mine := sent(k.Filled(5))
		mine.Fields["version"], mine.Fields["vanity"] = version, "moles"
		mine.Rows["multipliers"][0]["multiplier"] = "1"
		if conflicts := k.Merge(mine, 6); len(conflicts) != 2 {
			t.Errorf("a form of version %q has the conflicts %v, want 2", version, conflicts)
		}
	}
}
