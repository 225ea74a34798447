package web_test

import (
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
)

// describe sends properties of the guild, as its bot does.
func (w *settingsWorld) describe(body string) {
	w.t.Helper()
	given, err := guild.ParseDescription([]byte(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.deps.Settings.Describe(w.t.Context(), public, given); err != nil {
		w.t.Fatal(err)
	}
}

const someDirectory = `{"roles":[{"id":"400000000000000001","name":"mods"},{"id":"400000000000000010","name":"Ten <b>& co","color":7,"position":3},
	{"id":"400000000000000011","name":"twin"},{"id":"400000000000000012","name":"Twin"}],
	"channels":[{"id":"300000000000000001","name":"general"},{"id":"300000000000000010","name":"news","parentId":"300000000000000009","position":4,"type":5}]}`

func TestRolesAndChannelsAreChosenWithoutScript(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	b.get(settingsAddress).want(200).lacks("<datalist id=\"roles\"", "<datalist id=\"channels\"", "Add a role", "Add a channel")
	w.describe(someDirectory)
	page := b.get(settingsAddress).want(200, `<option value="Ten &lt;b&gt;&amp; co">400000000000000010</option>`, `<option value="news">300000000000000010</option>`,
		`<option value="400000000000000012 Twin"></option>`,
		`name="roleRewards[0].add" list="roles" data-into="f-roleRewards-0--roles"`, `name="multipliers[0].add" list="channels"`, `name="multipliers[1].add" list="roles"`,
		"300000000000000001 general\n", "400000000000000001 mods\n")
	// Saving the unchanged form keeps what was chosen, and a reload shows it.
	b.post(settingsAddress, with(page.form(), "do", "save")).want(200, "Saved.")
	form := with(page.form(), "roleRewards[0].add", "400000000000000010 Ten <b>& co", "multipliers[0].add", "NEWS", "multipliers[1].add", "400000000000000010",
		"ignoredChannelIds[add]", " 300000000000000010 news ", "ignoredRoleIds[add]", "400000000000000001 mods")
	form = b.post(settingsAddress, with(form, "do", "check")).want(200, "No errors found").form()
	for name, want := range map[string]string{
		"roleRewards[0].roles": "400000000000000010 Ten <b>& co\n", "roleRewards[0].add": "", "ignoredChannelIds[add]": "", "ignoredRoleIds": "400000000000000001 mods\n",
		"ignoredChannelIds": "300000000000000001 general\n300000000000000002\n300000000000000010 news\n",
	} {
		if got := strings.ReplaceAll(form.Get(name), "\r", ""); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	b.post(settingsAddress, with(form, "do", "save")).want(200, "Saved.")
	got := asJSON(t, w.saved())
	for path, want := range map[string]string{
		"rewards":  `map[color:7 id:400000000000000010 name:Ten <b>& co position:3]`,
		"channels": `map[id:300000000000000010 name:news parentId:300000000000000009 position:4 type:5]`,
		"ignored":  `[300000000000000001 300000000000000002 300000000000000010]`,
	} {
		if text := fmt.Sprint(got); !strings.Contains(text, want) {
			t.Errorf("%s: %s is not in %s", path, want, text)
		}
	}
}

func TestWhatCannotBeChosenIsSaidBesideTheList(t *testing.T) {
	w := newSettingsWorld(t)
	w.describe(someDirectory)
	b := w.manager()
	form, before := b.get(settingsAddress).form(), w.saved()
	for typed, want := range map[string]string{
		"TWIN": `id="f-roleRewards-0--add-error">Several items have this name.`, "news": `id="f-roleRewards-0--add-error">Nothing has this name.`,
		"400000000000000099": `id="f-roleRewards-0--roles-error">Line 1: the name is required.`, "17 x": `id="f-roleRewards-0--add-error">Nothing has this name.`,
	} {
		b.post(settingsAddress, with(form, "do", "save", "roleRewards[0].add", typed)).want(422, "<h2>Nothing was changed</h2>", want, `href="#f-roleRewards-0--`)
		b.post(settingsAddress, with(form, "do", "check", "roleRewards[0].add", typed)).want(422, want)
	}
	b.post(settingsAddress, with(form, "do", "save", "ignoredRoleIds[add]", "nobody")).want(422, `id="f-ignoredRoleIds-add-error">Nothing has this name.`, "Ignored roles</a>", `value="nobody"`)
	if w.saved() != before {
		t.Errorf("saved %s", w.saved())
	}
	// A line may have the id only, when the directory knows the name.
	b.post(settingsAddress, with(form, "do", "save", "roleRewards[0].roles", "400000000000000011")).want(200, "Saved.", "400000000000000011 twin")
}

func TestAMultiplierForRolesOffersRoles(t *testing.T) {
	w := newSettingsWorld(t)
	w.describe(someDirectory)
	b := w.manager()
	form := b.post(settingsAddress, with(b.get(settingsAddress).form(), "do", "add-multiplier Role")).want(200, `name="multipliers[2].add" list="roles"`).form()
	b.post(settingsAddress, with(form, "do", "save", "multipliers[2].multiplier", "2", "multipliers[2].add", "ten <b>& co")).want(200, "Saved.", "400000000000000010 Ten")
	b.post(settingsAddress, with(form, "do", "add-multiplier Channel")).want(200, `name="multipliers[3].add" list="channels"`)
}

// A bot that keeps the guild's facts up to date is in no manager's way, and the other way around.
func TestABotDescribesTheGuildWhileAManagerEdits(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	w.describe(`{"name":"Renamed","memberCount":99,"roles":[{"id":"400000000000000002","name":"new name"}]}`)
	b.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "998")).want(200, "Saved.", "Renamed", "new name")
	if got := asJSON(t, w.saved()); got["name"] != "Renamed" || got["memberCount"] != 99.0 || got["xpPerMessageMax"] != 998.0 {
		t.Errorf("saved %v", got)
	}
}

// Names come from outside. One that looks like an id must not become one more that is ignored.
func TestANameLikeAnIDIsNotIgnoredToo(t *testing.T) {
	w := newSettingsWorld(t)
	w.describe(`{"channels":[{"id":"300000000000000001","name":"x,300000000000000077 </textarea>"},{"id":"300000000000000010","name":"300000000000000078"}]}`)
	b := w.manager()
	form := b.get(settingsAddress).want(200, `<option value="300000000000000010 300000000000000078"></option>`).lacks("77 </textarea>", `data-into=""`).form()
	b.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "998", "ignoredChannelIds[add]", "300000000000000010 300000000000000078")).want(200, "Saved.")
	if got := fmt.Sprint(asJSON(t, w.saved())["ignoredChannelIds"]); got != "[300000000000000001 300000000000000002 300000000000000010]" {
		t.Errorf("ignored are %s", got)
	}
}

func TestNamesOfTheDirectoryMayBeTooLong(t *testing.T) {
	w := newSettingsWorld(t)
	roles, lines := make([]string, 500), make([]string, 500)
	for i := range roles {
		roles[i] = fmt.Sprintf(`{"id":"400000000000001%03d","name":%q}`, i, strings.Repeat("n", 400))
		lines[i] = fmt.Sprintf("400000000000001%03d n", i)
	}
	w.describe(`{"roles":[` + strings.Join(roles, ",") + `]}`)
	b := w.manager()
	form, before := b.get(settingsAddress).form(), w.saved()
	b.post(settingsAddress, with(form, "do", "save", "multipliers[1].targets", strings.Join(lines, "\r\n"), "roleRewards[0].roles", strings.Join(lines[:240], "\r\n"))).
		want(422, "<h2>Nothing was changed</h2>", "the settings would be longer than 262144 bytes")
	if w.saved() != before {
		t.Errorf("saved %s", w.saved())
	}
}
