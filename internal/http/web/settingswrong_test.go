package web_test

import (
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
)

func TestAFormWithGapsLosesNoRow(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	// The first row of each list is removed, and new ones have much higher numbers.
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
		t.Errorf("the form has rewards at %v and multipliers %v, want [9 10 70] and [0 3]", levels, multipliers)
	}
	// A row that was sent in part is an error, not a removed row.
	form = with(b.get(settingsAddress).form(), "do", "save")
	b.post(settingsAddress, with(form, "roleRewards[5].roles", "400000000000000009 nine")).want(422, `id="f-roleRewards-3--level-error"`)
	// More rows than are read are too many.
	for n := range 2000 {
		form.Set(fmt.Sprintf("multipliers[%d].type", 2*n), "Channel")
		form.Set(fmt.Sprintf("multipliers[%d].multiplier", 2*n), "1")
	}
	if got := b.post(settingsAddress, form).want(422, "<h2>Nothing was changed</h2>", "at most 250"); strings.Count(got.text, `>Remove<span class="sr"> multiplier `) != 300 {
		t.Errorf("%d multipliers are shown, want 300", strings.Count(got.text, `>Remove<span class="sr"> multiplier `))
	}
}

func TestEverySettingsErrorIsAtItsField(t *testing.T) {
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
		got := b.post(settingsAddress, with(form, "do", "save", f.field, f.value)).want(422, "<h2>Nothing was changed</h2>", `href="#`+f.id+`"`)
		got.want(422, fmt.Sprintf(`id="%s-error">%s`, f.id, f.says), " autofocus>")
		if n := strings.Count(got.text, "field__error"); n != 1 {
			t.Errorf("%s: the page has %d errors, want 1", f.field, n)
		}
	}
	got := b.post(settingsAddress, with(form, all...)).want(422)
	for _, f := range wrong {
		got.want(422, fmt.Sprintf(`id="%s-error">%s`, f.id, f.says), `href="#`+f.id+`"`)
	}
	for name, c := range map[string]struct {
		field, value, says string
	}{
		"a minimum above the maximum": {"xpPerMessageMin", "1000", `id="f-xpPerMessageMin-error">The minimum must not be above the maximum, but 1000 is above 999.`},
		"a vanity like an id":         {"vanity", "12345678901234567", "Must not be 17 to 19 digits alone"},
		"an unknown curve":            {"curve", "steep", "Must be the name of a preset"},
		"an invalid role of a reward": {"roleRewards[1].roles", "not-a-role", `id="f-roleRewards-1--roles-error">Line 1: ` + noID},
		"grouped digits":              {"xpPerMessageMax", "10,000", "Must be a whole number from 1 to 1000."},
		"a missing coefficient":       {"curve[1]", "", "Coefficient 2: must be a number."},
		"a decimal comma":             {"xpGlobalMultiplier", "1,5", "Must be a number from 0 to 5."},
		"an unknown kind":             {"multipliers[0].type", "User", "Must be &#34;Channel&#34; or &#34;Role&#34;."},
		"an invalid UUID":             {"roleRewards[0].id", "x", "Must be a UUID"},
		"a row's id twice":            {"roleRewards[0].id", "6ba7b813-9dad-41d1-80b4-00c04fd430c8", "Repeats an id of the same list"},
		"several lines":               {"ignoredChannelIds", "x y\r\n300000000000000001\r\n17\r\nz", "Lines 1, 3, 4: " + noID},
		"very many lines":             {"ignoredRoleIds", strings.Repeat("x\r\n", 200), "Lines 1, 2, 3, 4, 5, 6 and 194 more: " + noID},
		"several on a line":           {"ignoredRoleIds", "1, 111111111111111\r\n2", "Lines 1, 2: " + noID},
		"lines of a row":              {"roleRewards[1].roles", "x a\r\ny b", "Lines 1, 2: " + noID},
		"a season's id twice":         {"seasons[1].id", "spring", `id="f-seasons-1--id-error">Repeats spring; give each season an id of its own.`},
		"seasons that overlap":        {"seasons[1].end", "2027-03-02", `id="f-seasons-1--start-error">Overlaps season 1, whose start is 2027-03-01 and whose end is 2027-06-01; move one of them.`},
		"no date":                     {"seasons[1].start", "", `id="f-seasons-1--start-error">Must be a date in the years 1970 to 9999, such as 2026-12-01.`},
		"no name":                     {"seasons[1].name", "", `id="f-seasons-1--name-error">`},
		"a target twice":              {"multipliers[1].targets", "400000000000000002\r\n400000000000000002", "Line 2: the id repeats 400000000000000002; remove one of them."},
		"too many":                    {"ignoredRoleIds", manyIDs(1001), "Must have at most 1000 items."},
	} {
		t.Run(name, func(t *testing.T) {
			b.post(settingsAddress, with(form, "do", "save", c.field, c.value)).want(422, "<h2>Nothing was changed</h2>", c.says)
		})
	}
	b.post(settingsAddress, with(form, "do", "save", "curve[0]", "", "curve[1]", "", "curve[2]", "")).want(422, `id="f-curve-error">Enter numbers for a custom curve, at least a and b.`)
	b.post(settingsAddress, with(form, "do", "check", "xpPerMessageMax", "1,000")).want(200)
	b.post(settingsAddress, with(form, "do", "save", "multipliers[1].targets", longTargets(500), "roleRewards[0].roles", longTargets(250))).
		want(422, "<h2>Nothing was changed</h2>", "they must be at most 262144. Shorten the lists.")
	shared := with(form, "do", "save", "multipliers[0].type", "Role", "multipliers[0].targets", "400000000000000003\r\n\r\n400000000000000002")
	b.post(settingsAddress, shared).want(422, "<h2>Nothing was changed</h2>", `id="f-multipliers-1--targets-error">Line 1: the id repeats 400000000000000002 of multiplier 1; remove one of them.`)
	least := with(form, "do", "save", "xpPerMessageMin", "15", "xpPerMessageMax", "40")
	w.put(public, strings.Replace(everySetting, `"xpPerMessageMin":1,`, `"xpPerMessageMin":15,`, 1))
	b.post(settingsAddress, with(least, "version", b.get(settingsAddress).form().Get("version"), "xpPerMessageMax", "1")).
		want(422, `id="f-xpPerMessageMax-error">The maximum must not be below the minimum, but 1 is below 15.`).lacks("f-xpPerMessageMin-error")
	w.put(public, everySetting)
	b.post(settingsAddress, with(form, "do", "save", "vanity", strings.Repeat("a", 1<<20))).want(413, "The form is too large")
	if w.saved() != before || len(w.announced) > 0 {
		t.Errorf("refused forms changed the settings to %s and announced %v", w.saved(), w.announced)
	}
}

// A form can have more errors than anybody reads. The page shows some and says how many it left out.
func TestTheErrorsOfAFormAreBounded(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := with(b.get(settingsAddress).form(), "do", "save", "vanity", "a b")
	for i := range 250 {
		for _, list := range []string{"multipliers", "roleRewards"} {
			for _, property := range []string{"id", "level", "multiplier", "targets", "roles"} {
				form.Set(fmt.Sprintf("%s[%d].%s", list, i, property), strings.Repeat("x\n", 30))
			}
		}
	}
	got := b.post(settingsAddress, form).want(422, "<h2>Nothing was changed</h2>", "more errors. Correct these first.", `id="f-vanity-error"`)
	if n := strings.Count(got.text, "field__error"); n > fault.MaxListed {
		t.Errorf("%d errors are shown, want at most %d", n, fault.MaxListed)
	}
	if errors := len(got.text) - len(b.post(settingsAddress, with(form, "do", "nothing")).want(200).text); errors > 64<<10 {
		t.Errorf("the errors take %d bytes, want at most 64 KiB", errors)
	}
}

func manyIDs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "4%017d\n", i)
	}
	return b.String()
}

func longTargets(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "4%017d %s\n", i, strings.Repeat("n", 400))
	}
	return b.String()
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

// All errors are shown at once, also several in a row, and where one value bounds another.
func TestARowShowsAllItsErrors(t *testing.T) {
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
		t.Errorf("%d fields are invalid, want 11", invalid)
	}
	// If the start is invalid, the end is not compared with it.
	b.post(settingsAddress, with(form, "do", "save", "seasons[2].id", "x", "seasons[2].end", "2028-01-01")).want(422, "f-seasons-2--start-error").lacks("f-seasons-2--end-error")
}
