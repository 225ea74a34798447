package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
)

func asJSON(t *testing.T, document string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestSavingTheFormAsItIsChangesNothing(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	got := b.get(settingsAddress).want(200)
	b.post(settingsAddress, with(got.form(), "do", "save")).want(200, "Saved.")
	if len(w.announced) != 0 {
		t.Errorf("what changed nothing was announced: %q", w.announced)
	}
	// Something else changes; everything that the form shows, and what it does not show, stays.
	b.post(settingsAddress, with(got.form(), "do", "save", "xpPerMessageMax", "998")).want(200, "Saved.")
	want := strings.Replace(everySetting, `"xpPerMessageMax":999`, `"xpPerMessageMax":998`, 1)
	if saved := w.saved(); !reflect.DeepEqual(asJSON(t, saved), asJSON(t, want)) {
		t.Errorf("saved %s\nwant %s", saved, want)
	}
	if want := []string{"guild " + string(public)}; !reflect.DeepEqual(w.announced, want) {
		t.Errorf("announced %q, want %q", w.announced, want)
	}
	// The audit log says who it was, and what changed.
	unread := func(guild.Incarnation, time.Time) (time.Time, error) { return time.Time{}, nil }
	records, err := w.archive.ReadAudit(t.Context(), public, audit.Query{Limit: 5}, unread)
	if err != nil || len(records) != 1 || records[0].By.Actor != (audit.Actor{Kind: audit.User, ID: ada, Name: "Ada L."}) || string(records[0].After) != `{"xpPerMessageMax":998}` {
		t.Errorf("the audit log is %+v, %v", records, err)
	}
}

func TestEveryPropertyCanBeSet(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	b.post(settingsAddress, with(form, "do", "save", "enabled", "on", "visibility", "public", "embedding", "", "vanity", " NewName ", "curve", "mee6",
		"xpGainInterval", "1.0", "xpGainInterval.unit", "minutes", "xpPerMessageMin", "5", "xpPerMessageMax", "6", "xpGlobalMultiplier", "3",
		"ignoredChannelIds", "300000000000000007, 300000000000000008\r\n300000000000000009 general, 2024", "ignoredRoleIds", "", "ignoredUserIds", "500000000000000002 a bot",
		"multipliers[0].type", "Role", "multipliers[0].multiplier", "4", "multipliers[0].targets", "400000000000000002\r\n400000000000000008   a new role \r\n",
		"multipliers[1].multiplier", "1", "multipliers[1].targets", "400000000000000009 nine", "roleRewards[0].level", "20", "roleRewards[0].stack", "on", "roleRewards[1].stack", "-",
		"roleRewards[1].roles", "400000000000000003 renamed", "name", "Stolen", "ownerId", ada, "adminIds", ada)).want(200, "Saved.")
	got, want := asJSON(t, w.saved()), asJSON(t, everySetting)
	for property, value := range asJSON(t, `{"enabled":true,"visibility":"public","embedding":false,"vanity":"newname","curve":"mee6","xpGainInterval":60000,
		"xpPerMessageMin":5,"xpPerMessageMax":6,"xpGlobalMultiplier":3,
		"ignoredChannelIds":["300000000000000007","300000000000000008","300000000000000009"],"ignoredRoleIds":[],"ignoredUserIds":["500000000000000002"],"multipliers":[
		{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","type":"Role","multiplier":4,"targets":[{"id":"400000000000000002","name":"another name","color":null,"position":7},{"id":"400000000000000008","name":"a new role","color":null,"position":0}]},
		{"id":"6ba7b811-9dad-41d1-80b4-00c04fd430c8","type":"Role","multiplier":1,"targets":[{"id":"400000000000000009","name":"nine","color":null,"position":0}]}],
		"roleRewards":[{"id":"6ba7b813-9dad-41d1-80b4-00c04fd430c8","level":10,"stack":false,"roles":[{"id":"400000000000000003","name":"renamed","color":16777215,"position":2}]},
		{"id":"6ba7b812-9dad-41d1-80b4-00c04fd430c8","level":20,"stack":true,"roles":[]}]}`) {
		want[property] = value
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("saved %v\nwant %v", got, want)
	}
	// It is in force here.
	if g, err := w.cache.ByVanity(t.Context(), "newname"); err != nil || g.ID != public {
		t.Errorf("by the new name: %+v, %v", g, err)
	}
	again := b.get(settingsAddress).form()
	b.post(settingsAddress, with(again, "do", "save", "curve", "own", "curve[0]", "150", "curve[1]", "-100", "curve[2]", "50")).want(200, "Saved.")
	if curve := asJSON(t, w.saved())["curve"]; fmt.Sprint(curve) != "[150 -100 50]" {
		t.Errorf("curve %v", curve)
	}
}

func TestRowsAreAddedAndRemovedWithoutScript(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	before := w.saved()
	form := with(b.get(settingsAddress).form(), "xpPerMessageMax", "not yet right")
	form = b.post(settingsAddress, with(form, "do", "add-reward")).want(200, "Reward 3", "not yet right").form()
	form = b.post(settingsAddress, with(form, "do", "remove-reward 0")).want(200, "Reward 2").lacks("Reward 3").form()
	form = b.post(settingsAddress, with(form, "do", "add-multiplier")).want(200, "Multiplier 3").form()
	form = b.post(settingsAddress, with(form, "do", "remove-multiplier 1")).want(200).form()
	for _, odd := range []string{"remove-reward 99", "remove-reward -1", "remove-reward x", "remove-multiplier", "nothing"} {
		form = b.post(settingsAddress, with(form, "do", odd)).want(200, "Reward 2", "Multiplier 2").form()
	}
	if form.Get("xpPerMessageMax") != "not yet right" || w.saved() != before {
		t.Fatalf("the form is %v; saved is %s", form, w.saved())
	}
	b.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "50", "roleRewards[1].level", "7", "roleRewards[1].roles", "400000000000000005 seven",
		"multipliers[1].multiplier", "2", "multipliers[1].targets", "300000000000000005 five")).want(200, "Saved.")
	got := asJSON(t, w.saved())
	rewards, multipliers := got["roleRewards"].([]any), got["multipliers"].([]any)
	if len(rewards) != 2 || len(multipliers) != 2 || rewards[0].(map[string]any)["level"] != 7.0 || rewards[0].(map[string]any)["id"] == "" ||
		rewards[1].(map[string]any)["id"] != "6ba7b813-9dad-41d1-80b4-00c04fd430c8" || multipliers[1].(map[string]any)["type"] != "Channel" {
		t.Errorf("saved %s", w.saved())
	}
}

func TestAFormWithGapsLosesNoRow(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	// The first row of each list is gone, and new ones come far behind.
	for name := range form {
		if strings.HasPrefix(name, "roleRewards[0].") || strings.HasPrefix(name, "multipliers[0].") {
			form.Del(name)
		}
	}
	b.post(settingsAddress, with(form, "do", "save", "roleRewards[70000].level", "70", "roleRewards[9].level", "9", "multipliers[12].type", "Channel",
		"multipliers[12].multiplier", "3")).want(200, "Saved.", "Reward 3", "Multiplier 2").lacks("Reward 4", "Multiplier 3")
	got := asJSON(t, w.saved())
	var levels, multipliers []any
	for _, r := range got["roleRewards"].([]any) {
		levels = append(levels, r.(map[string]any)["level"])
	}
	for _, m := range got["multipliers"].([]any) {
		multipliers = append(multipliers, m.(map[string]any)["multiplier"])
	}
	if fmt.Sprint(levels, multipliers) != "[9 10 70] [0 3]" {
		t.Errorf("rewards at %v, multipliers %v", levels, multipliers)
	}
	// A row of which only a part was sent is wrong, not away.
	form = with(b.get(settingsAddress).form(), "do", "save")
	b.post(settingsAddress, with(form, "roleRewards[5].roles", "400000000000000009 nine")).want(422, `id="f-roleRewards-3--level-error"`)
	// More rows than are read are more than there may be.
	for n := range 2000 {
		form.Set(fmt.Sprintf("multipliers[%d].type", 2*n), "Channel")
		form.Set(fmt.Sprintf("multipliers[%d].multiplier", 2*n), "1")
	}
	if got := b.post(settingsAddress, form).want(422, "<h2>Not saved</h2>", "at most 250"); strings.Count(got.text, "<legend>Multiplier") != 300 {
		t.Errorf("%d multipliers are shown", strings.Count(got.text, "<legend>Multiplier"))
	}
}

func TestEveryFieldsErrorIsBesideIt(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	before, form := w.saved(), b.get(settingsAddress).form()
	const noID = "the id must be 17 to 19 digits, the first not 0."
	wrong := []struct{ id, field, value, says string }{
		{"f-visibility", "visibility", "nobody", `Must be &#34;public&#34; or &#34;private&#34;.`},
		{"f-vanity", "vanity", "a b", "Must be 2 to 32 letters (a to z) and digits."},
		{"f-curve", "curve[1]", "-99", "The curve must rise at every level"},
		{"f-xpGainInterval", "xpGainInterval", "9.9", "Must be a number of minutes or seconds, from 10 seconds to 1 day."},
		{"f-xpPerMessageMin", "xpPerMessageMin", "1e3", "Must be a whole number from 1 to 1000."},
		{"f-xpPerMessageMax", "xpPerMessageMax", "", "Must be a whole number from 1 to 1000."},
		{"f-xpGlobalMultiplier", "xpGlobalMultiplier", "5.1", "Must be a number from 0 to 5."},
		{"f-ignoredChannelIds", "ignoredChannelIds", "300000000000000001 x\r\n\r\ny", "Line 3: " + noID},
		{"f-ignoredRoleIds", "ignoredRoleIds", "400000000000000001 mods\r\n400000000000000001", "Line 2: repeats 400000000000000001; remove one of them."},
		{"f-multipliers-0--targets", "multipliers[0].targets", "300000000000000003 x\r\n\r\n17 y", "Line 3: " + noID},
		{"f-multipliers-1--multiplier", "multipliers[1].multiplier", "many", "Must be a number from 0 to 5."},
		{"f-roleRewards-0--level", "roleRewards[0].level", "10001", "Must be a whole number from 0 to 10000."},
		{"f-roleRewards-1--roles", "roleRewards[1].roles", "400000000000000009", "Line 1: the name is required."},
		{"f-timeZone", "timeZone", "Europe/Atlantis", "Must be the name of a time zone of the IANA database, such as Europe/Berlin or UTC."},
		{"f-seasons-0--id", "seasons[0].id", "Spring 27", "Must be 1 to 32 of a to z, 0 to 9 and -."},
		{"f-seasons-1--end", "seasons[1].end", "2026-12-01", "Must be 1 to 400 days after start, which is 2026-12-01; it is the first day after the season."},
	}
	all := []string{"do", "save"}
	for _, f := range wrong {
		all = append(all, f.field, f.value)
		got := b.post(settingsAddress, with(form, "do", "save", f.field, f.value)).want(422, "<h2>Not saved</h2>", `href="#`+f.id+`"`)
		got.want(422, fmt.Sprintf(`id="%s-error">%s`, f.id, f.says))
		if n := strings.Count(got.text, "field__error"); n != 1 {
			t.Errorf("%s: %d errors", f.field, n)
		}
	}
	got := b.post(settingsAddress, with(form, all...)).want(422)
	for _, f := range wrong {
		got.want(422, fmt.Sprintf(`id="%s-error">%s`, f.id, f.says), `href="#`+f.id+`"`)
	}
	for name, c := range map[string]struct {
		field, value, says string
	}{
		"too high a least":     {"xpPerMessageMin", "1000", `id="f-xpPerMessageMin-error">The minimum must not be above the maximum, but 1000 is above 999.`},
		"an id's look":         {"vanity", "12345678901234567", "Must not be 17 to 19 digits alone"},
		"no curve":             {"curve", "steep", "Must be the name of a preset"},
		"a gap":                {"curve[1]", "", "Coefficient 2: must be a number."},
		"a number for people":  {"xpGlobalMultiplier", "1,5", "Must be a number from 0 to 5."},
		"no such kind":         {"multipliers[0].type", "User", "Must be &#34;Channel&#34; or &#34;Role&#34;."},
		"no UUID":              {"roleRewards[0].id", "x", "Must be a UUID"},
		"the same row twice":   {"roleRewards[0].id", "6ba7b813-9dad-41d1-80b4-00c04fd430c8", "Repeats an id of the same list"},
		"several lines":        {"ignoredChannelIds", "x y\r\n300000000000000001\r\n17\r\nz", "Lines 1, 3 and 4: " + noID},
		"very many lines":      {"ignoredRoleIds", strings.Repeat("x\r\n", 200), "Lines 1, 2, 3, 4, 5, 6 and 194 more: " + noID},
		"several on a line":    {"ignoredRoleIds", "1, 111111111111111\r\n2", "Lines 1 and 2: " + noID},
		"lines of a row":       {"roleRewards[1].roles", "x a\r\ny b", "Lines 1 and 2: " + noID},
		"a season's id twice":  {"seasons[1].id", "spring", `id="f-seasons-1--id-error">Repeats spring; give each season an id of its own.`},
		"seasons that overlap": {"seasons[1].end", "2027-03-02", `id="f-seasons-1--start-error">Overlaps season 1, whose start is 2027-03-01 and whose end is 2027-06-01; move one of them.`},
		"no date":              {"seasons[1].start", "", `id="f-seasons-1--start-error">Must be a date in the years 1970 to 9999, such as 2026-12-01.`},
		"no name":              {"seasons[1].name", "", `id="f-seasons-1--name-error">`},
		"a target twice":       {"multipliers[1].targets", "400000000000000002\r\n400000000000000002", "Line 2: the id repeats 400000000000000002; remove one of them."},
		"too many":             {"ignoredRoleIds", manyIDs(1001), "Must have at most 1000 items."},
		"too much":             {"multipliers[0].targets", longTargets(), "they must be at most 65536. Shorten the lists."},
	} {
		t.Run(name, func(t *testing.T) {
			b.post(settingsAddress, with(form, "do", "save", c.field, c.value)).want(422, "<h2>Not saved</h2>", c.says)
		})
	}
	shared := with(form, "do", "save", "multipliers[0].type", "Role", "multipliers[0].targets", "400000000000000003\r\n\r\n400000000000000002")
	b.post(settingsAddress, shared).want(422, "<h2>Not saved</h2>", `id="f-multipliers-1--targets-error">Line 1: the id repeats 400000000000000002 of multiplier 1; remove one of them.`)
	least := with(form, "do", "save", "xpPerMessageMin", "15", "xpPerMessageMax", "40")
	w.put(public, strings.Replace(everySetting, `"xpPerMessageMin":1,`, `"xpPerMessageMin":15,`, 1))
	b.post(settingsAddress, with(least, "version", b.get(settingsAddress).form().Get("version"), "xpPerMessageMax", "1")).
		want(422, `id="f-xpPerMessageMax-error">The maximum must not be below the minimum, but 1 is below 15.`).lacks("f-xpPerMessageMin-error")
	w.put(public, everySetting)
	b.post(settingsAddress, with(form, "do", "save", "vanity", strings.Repeat("a", 256<<10))).want(413, "The form is too large")
	if w.saved() != before || len(w.announced) > 0 {
		t.Errorf("saved %s, announced %v", w.saved(), w.announced)
	}
}

func manyIDs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "4%017d\n", i)
	}
	return b.String()
}

func longTargets() string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "3%017d %s\n", i, strings.Repeat("n", 200))
	}
	return b.String()
}

func TestOnlyManagersSeeAndChangeSettings(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form, before := b.get(settingsAddress).form(), w.saved()
	stranger := w.browser()
	stranger.get(settingsAddress).want(401, "/sign-in?next=%2fguilds%2f200000000000000001%2fsettings")
	stranger.post(settingsAddress, with(form, "do", "save", "vanity", "mine")).want(401)
	member := []any{map[string]any{"id": string(public), "name": "Gophers", "owner": false, "permissions": "0"}}
	w.provider.SetUser(map[string]any{"id": "100000000000000002", "username": "bo"}, member)
	bo := w.browser()
	bo.get("/sign-in/provider").want(200)
	for _, do := range []string{"save", "check", "add-reward"} {
		bo.post(settingsAddress, with(form, "do", do, "vanity", "mine")).want(403, "Only the owner and the administrators").lacks("900000000000000002")
	}
	bo.get(settingsAddress).want(403).lacks("900000000000000002")
	bo.get("/guilds/299999999999999999/settings").want(404, "No community has this ID. Check the address.").lacks("vanity")
	bo.get("/guilds/gophers/settings").want(404)
	b.post(settingsAddress, with(form, "do", "save", "vanity", "mine"), "Origin", "https://evil.example").want(403, "another site")
	b.get("/guilds/" + string(closed) + "/settings").want(403)
	if w.saved() != before {
		t.Errorf("saved %s", w.saved())
	}
}

// Who was signed out meanwhile comes back to the form, not to the start.
func TestAFormWithoutASessionLeadsBackToItsPage(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.browser()
	for address, back := range map[string]string{
		settingsAddress: settingsAddress, settingsAddress + "?saved=1": settingsAddress, "/profile": "/profile",
		"/profile/keys/x": "/profile/keys/x", "/profile/keys/x/delete": "/profile/keys/x/delete",
		"/profile/keys/x/rotate": "/", // where there is no page
	} {
		link := `<a class="button button--primary" href="/sign-in?next=` + strings.ReplaceAll(back, "/", "%2f") + `">`
		b.post(address, url.Values{"do": {"save"}}).want(401, link)
		if back != "/" {
			b.get(back).want(401, link)
		}
	}
}

func TestAVanityIsCheckedAndTaken(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	b.post(settingsAddress, with(form, "do", "check", "vanity", "Badgers")).want(200, "This short name is available")
	b.post(settingsAddress, with(form, "do", "check", "vanity", "Gophers")).want(200, "You already have this short name")
	b.post(settingsAddress, with(form, "do", "check", "vanity", "")).want(200).lacks("name is available", "already have")
	for _, do := range []string{"check", "save"} {
		b.post(settingsAddress, with(form, "do", do, "vanity", "MOLES")).want(422, `id="f-vanity-error">Another community has this short name`, `value="MOLES"`)
	}
	b.post(settingsAddress, with(form, "do", "save", "vanity", "")).want(200, "Saved.")
	if v := asJSON(t, w.saved())["vanity"]; v != nil {
		t.Errorf("vanity %v", v)
	}
}

func TestACheckThatFindsNothingSaysSo(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	const fine = `role="status">No errors found. Not saved yet.`
	form := b.get(settingsAddress).want(200).lacks(fine).form()
	b.post(settingsAddress, with(form, "do", "check")).want(200, fine)
	b.post(settingsAddress, with(form, "do", "check", "xpPerMessageMin", "0")).want(422).lacks(fine)
	b.post(settingsAddress, with(form, "do", "add-reward")).want(200).lacks(fine)
	b.post(settingsAddress, with(form, "do", "save")).want(200, "Saved.").lacks(fine)
}

func TestTheCooldownIsInMinutesOrSeconds(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).want(200, `name="xpGainInterval" value="12.345"`, `<option value="seconds" selected>`).form()
	for _, c := range []struct {
		text, unit string
		ms         int
		shown      string
	}{
		{"2", "minutes", 120_000, "2"}, {" 1.5 ", "minutes", 90_000, "90"}, {"1440", "minutes", 86_400_000, "1440"}, {"10", "seconds", 10_000, "10"},
		{"0.1667", "minutes", 10_002, "10.002"}, {"120", "seconds", 120_000, "2"}, {"3", "-", 180_000, "3"},
	} {
		form = b.post(settingsAddress, with(form, "do", "save", "xpGainInterval", c.text, "xpGainInterval.unit", c.unit)).
			want(200, "Saved.", `name="xpGainInterval" value="`+c.shown+`"`).form()
		if got := asJSON(t, w.saved())["xpGainInterval"]; got != float64(c.ms) {
			t.Errorf("%s %s is saved as %v", c.text, c.unit, got)
		}
	}
	for _, c := range [][2]string{{"", "minutes"}, {"a minute", "minutes"}, {"9.999", "seconds"}, {"1440.1", "minutes"}, {"1e2", "seconds"}, {"-1", "minutes"}, {"NaN", "seconds"}, {"1", "hours"}, {"99999999999999999999", "seconds"}, {"1,5", "minutes"}} {
		b.post(settingsAddress, with(form, "do", "save", "xpGainInterval", c[0], "xpGainInterval.unit", c[1])).want(422, `id="f-xpGainInterval-error">Must be a number of minutes or seconds`)
	}
	// A conflict shows both in words.
	w.put(public, everySetting)
	b.post(settingsAddress, with(form, "do", "save", "xpGainInterval", "5", "xpGainInterval.unit", "minutes")).want(409, "<bdi>12.345 seconds</bdi>", "<bdi>5 minutes</bdi>")
}

// All that is wrong is said at once, also in one row, and where one value bounds another.
func TestARowSaysAllThatIsWrongWithIt(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	form = b.post(settingsAddress, with(form, "do", "add-season")).want(200, `data-edits="unsaved"`).form()
	got := b.post(settingsAddress, with(form, "do", "save", "vanity", "moles", "xpPerMessageMin", "1000",
		"roleRewards[1].level", "-1", "roleRewards[1].roles", "400000000000000009", "multipliers[0].type", "User", "multipliers[0].multiplier", "6", "multipliers[0].targets", "x")).
		want(422, `tabindex="-1" autofocus>`)
	for _, id := range []string{"f-vanity", "f-xpPerMessageMin", "f-roleRewards-1--level", "f-roleRewards-1--roles", "f-multipliers-0--type", "f-multipliers-0--multiplier",
		"f-multipliers-0--targets", "f-seasons-2--id", "f-seasons-2--name", "f-seasons-2--start", "f-seasons-2--end"} {
		got.want(422, `id="`+id+`-error"`, `href="#`+id+`"`, `id="`+id+`"`)
	}
	got.want(422, ">Reward 2, level</a>", ">Multiplier 1, applies to</a>", ">Season 3, start</a>")
	if invalid := strings.Count(got.text, "aria-invalid"); invalid != 11 {
		t.Errorf("%d fields are invalid", invalid)
	}
	// An end is not too far from a start that is none.
	b.post(settingsAddress, with(form, "do", "save", "seasons[2].id", "x", "seasons[2].end", "2028-01-01")).want(422, "f-seasons-2--start-error").lacks("f-seasons-2--end-error")
}

func TestTheFormKnowsWhetherItIsSaved(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	const saved, unsaved = `data-edits="saved"`, `data-edits="unsaved"`
	form := b.get(settingsAddress).want(200, saved, `id="unsaved" role="status" hidden`).form()
	for name := range form { // as browsers send lines
		form.Set(name, strings.ReplaceAll(form.Get(name), "\n", "\r\n"))
	}
	b.post(settingsAddress, with(form, "do", "check")).want(200, saved)
	b.post(settingsAddress, with(form, "do", "check", "xpPerMessageMax", "998")).want(200, unsaved, `id="unsaved" role="status">Unsaved changes`)
	b.post(settingsAddress, with(form, "do", "save", "vanity", "a b")).want(422, unsaved)
	b.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "998")).want(200, "Saved.", saved)
}

func TestTwoManagersAtOnce(t *testing.T) {
	w := newSettingsWorld(t)
	one, two := w.manager(), w.manager()
	form := one.get(settingsAddress).form()
	two.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "500", "vanity", "theirs")).want(200, "Saved.")
	theirs := w.saved()
	got := one.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "700")).
		want(409, "These settings changed while you were editing", "Maximum XP per message", "500", "700", "theirs", "Overwrite the saved settings")
	if w.saved() != theirs {
		t.Fatal("a conflict saved something")
	}
	// A third save in between is a conflict again.
	two.post(settingsAddress, with(two.get(settingsAddress).form(), "do", "save", "xpPerMessageMin", "9")).want(200, "Saved.")
	got = one.post(settingsAddress, with(got.form(), "do", "save")).want(409, "Minimum XP per message")
	one.post(settingsAddress, with(got.form(), "do", "save")).want(200, "Saved.")
	if saved := asJSON(t, w.saved()); saved["xpPerMessageMax"] != 700.0 || saved["vanity"] != "gophers" || saved["xpPerMessageMin"] != 1.0 {
		t.Errorf("saved %v", saved)
	}
	for _, version := range []string{"", "0", "x", "999999"} {
		one.post(settingsAddress, with(form, "do", "save", "version", version)).want(409)
	}
	// The operator's change is one too.
	form = one.get(settingsAddress).form()
	w.put(public, everySetting)
	one.post(settingsAddress, with(form, "do", "save", "visibility", "nobody")).want(409, "changed while you were editing", "<h2>Not saved</h2>")
}

func TestTheSameFormTwiceIsSavedOnce(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	// A row that is new has no id in the form, and gets one when it is saved.
	form := b.post(settingsAddress, with(b.get(settingsAddress).form(), "do", "add-reward")).want(200, "Reward 3").form()
	form = with(form, "do", "save", "vanity", " Badgers ", "roleRewards[2].level", "30", "roleRewards[2].roles", "400000000000000009 nine")
	// The button was pressed many times: some are sent before the first is answered.
	answers := make(chan string, 8)
	for range cap(answers) {
		go func() {
			answer, err := b.still().PostForm(w.url+settingsAddress, form)
			if err != nil {
				answers <- err.Error()
				return
			}
			defer answer.Body.Close()
			answers <- fmt.Sprint(answer.StatusCode, " ", answer.Header.Get("Location"))
		}()
	}
	for range cap(answers) {
		if got := <-answers; got != "303 "+settingsAddress+"?saved=1" {
			t.Errorf("answered %s", got)
		}
	}
	saved := w.saved()
	b.post(settingsAddress, form).want(200, "Saved.", "Reward 3", `value="badgers"`).lacks("Reward 4")
	if w.saved() != saved || len(w.announced) != 1 {
		t.Errorf("saved %s, then %s; announced %q", saved, w.saved(), w.announced)
	}
}

func TestSavingAgainAfterGoingBack(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	b.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "500")).want(200, "Saved.")
	// Back shows the form as it was sent, and nobody else was there.
	got := b.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "500", "xpPerMessageMin", "9")).
		want(409, "These settings changed while you were editing", "Minimum XP per message").lacks("<th scope=\"row\">Maximum XP per message")
	got.lacks("Someone else saved them</p>", "Nothing of yours", "theirs")
	b.post(settingsAddress, with(got.form(), "do", "save")).want(200, "Saved.")
	if saved := asJSON(t, w.saved()); saved["xpPerMessageMax"] != 500.0 || saved["xpPerMessageMin"] != 9.0 {
		t.Errorf("saved %v", saved)
	}
}

func TestACurveIsShownBeforeItIsSaved(t *testing.T) {
	w := newSettingsWorld(t)
	w.put(public, `{"name":"Gophers","memberCount":5,"ownerId":"900000000000000001"}`)
	w.members(490150, 4150, 100)
	b := w.manager()
	page := b.get(settingsAddress).want(200, "plot__line--saved", "plot__line--amari", "plot__line--mee6", "490,150").lacks("plot__line--entered", "Curve preview")
	before := w.saved()
	form := page.form()
	b.post(settingsAddress, with(form, "do", "check", "curve", "amari")).
		want(200, "plot__line--entered", "Of the top 3 members, 3 would move to a higher level and 0 to a lower one",
			`&lt;b&gt;member 0&lt;/b&gt;</bdi></th><td class="num">490,150</td><td class="num">100</td><td class="num">157</td>`)
	b.post(settingsAddress, with(form, "do", "check", "curve", "own", "curve[0]", "0", "curve[1]", "100")).
		want(200, `<td class="num">4,150</td><td class="num">10</td><td class="num">41</td>`)
	// A wrong field elsewhere does not keep the curve from being shown, and a wrong curve is none.
	b.post(settingsAddress, with(form, "do", "check", "curve", "mee6", "xpPerMessageMin", "x")).want(422, "Curve preview", "2 to a lower one")
	b.post(settingsAddress, with(form, "do", "check", "curve", "own", "curve[0]", "0")).want(422).lacks("Curve preview", "plot__line--entered")
	b.post(settingsAddress, with(form, "do", "check")).want(200).lacks("Curve preview")
	if w.saved() != before || len(w.announced) > 0 {
		t.Errorf("a preview saved %s", w.saved())
	}
	if m, err := w.board.Member(t.Context(), must(w.cache.ByID(t.Context(), public)), id.User("500000000000000000")); err != nil || m.XP != 490150 {
		t.Errorf("the member is now %+v, %v", m, err)
	}
}

// The axes are named, and the highest curve that is drawn reaches into the upper part of the plot.
func TestThePlotFitsItsCurves(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	points := regexp.MustCompile(`points="([^"]+)"`)
	for _, c := range []string{"1", "230", "999", "12345", "1e6"} {
		got := b.post(settingsAddress, with(form, "do", "check", "curve", "own", "curve[0]", "0", "curve[1]", c, "curve[2]", "0")).
			want(200, `text-anchor="middle">Level</text>`, `>XP</text>`)
		highest := 1000.0
		for _, line := range points.FindAllStringSubmatch(got.text, -1) {
			for _, point := range strings.Fields(line[1]) {
				var x, y float64
				if _, err := fmt.Sscanf(point, "%f,%f", &x, &y); err != nil {
					t.Fatal(err)
				}
				highest = min(highest, y)
			}
		}
		if highest < 32 || highest > 32+0.26*264 {
			t.Errorf("curve %s: the highest point is at %v", c, highest)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Any curve that the document allows has to be drawn, also those that nobody can climb.
func TestOddCurvesAreDrawn(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	for _, c := range [][2]string{{"0", "1"}, {"3e9", "1"}, {"1e300", "1"}, {"0", "1e12"}, {"-1", "2.5"}} {
		got := b.post(settingsAddress, with(form, "do", "check", "curve", "own", "curve[0]", c[0], "curve[1]", c[1], "curve[2]", "")).want(200, "plot__line--entered")
		got.lacks("NaN", "Inf", "e+")
	}
}

func TestTheSettingsPageIsGuarded(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	for what, got := range map[string]page{
		"the form":   b.get(settingsAddress).want(200),
		"errors":     b.post(settingsAddress, with(form, "do", "save", "vanity", `"><script>alert(1)</script>`, "curve[0]", `' onload='x`)).want(422),
		"a conflict": b.post(settingsAddress, with(form, "do", "save", "version", "0", "multipliers[0].targets", "300000000000000004 <script>alert(3)</script>")).want(409),
		"a preview":  b.post(settingsAddress, with(form, "do", "check", "curve", "mee6")).want(200),
	} {
		if got.header.Get("Content-Security-Policy") != policy || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", what, got.header)
		}
		if found := inline.FindString(got.text); found != "" {
			t.Errorf("%s has %q", what, found)
		}
		got.lacks("<script>alert", "</textarea><script", "<i>&")
		if len(got.text) > 100<<10 {
			t.Errorf("%s takes %d bytes", what, len(got.text))
		}
	}
}
