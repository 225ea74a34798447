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

// whole returns a document completed with its defaults.
func whole(t *testing.T, document string) map[string]any {
	t.Helper()
	s, err := guild.Parse(public, []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return asJSON(t, string(must(guild.Marshal(s))))
}

func TestSavingTheFormAsItIsChangesNothing(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	got := b.get(settingsAddress).want(200)
	b.post(settingsAddress, with(got.form(), "do", "save")).want(200, "Saved.")
	if len(w.announced) != 0 {
		t.Errorf("saving an unchanged form announced %q", w.announced)
	}
	// When one field changes, all others keep their values, also those that the form does not show.
	b.post(settingsAddress, with(got.form(), "do", "save", "xpPerMessageMax", "998")).want(200, "Saved.")
	want := strings.Replace(everySetting, `"xpPerMessageMax":999`, `"xpPerMessageMax":998`, 1)
	if saved := w.saved(); !reflect.DeepEqual(asJSON(t, saved), whole(t, want)) {
		t.Errorf("the saved settings are %s\nwant %s", saved, want)
	}
	if want := []string{"guild " + string(public)}; !reflect.DeepEqual(w.announced, want) {
		t.Errorf("the announced changes are %q, want %q", w.announced, want)
	}
	// The audit log names the user and the change.
	unread := func(guild.Incarnation, time.Time) (time.Time, error) { return time.Time{}, nil }
	records, err := w.archive.ReadAudit(t.Context(), public, audit.Query{Limit: 5}, unread)
	if err != nil || len(records) != 1 || records[0].By.Actor != (audit.Actor{Kind: audit.User, ID: ada, Name: "Ada L."}) || string(records[0].After) != `{"xpPerMessageMax":998}` {
		t.Errorf("the audit log is %+v (%v), want one record by Ada L. with xpPerMessageMax", records, err)
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
	got, want := asJSON(t, w.saved()), whole(t, everySetting)
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
		t.Errorf("the saved settings are %v\nwant %v", got, want)
	}
	// The cache of this replica has the change.
	if g, err := w.cache.ByVanity(t.Context(), "newname"); err != nil || g.ID != public {
		t.Errorf("the new vanity leads to %+v (%v), want %s", g, err, public)
	}
	again := b.get(settingsAddress).form()
	b.post(settingsAddress, with(again, "do", "save", "curve", "own", "curve[0]", "150", "curve[1]", "-100", "curve[2]", "50")).want(200, "Saved.")
	if curve := asJSON(t, w.saved())["curve"]; fmt.Sprint(curve) != "[150 -100 50]" {
		t.Errorf("the saved curve is %v, want [150 -100 50]", curve)
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
		t.Fatalf("the form is %v and the saved settings %s, want the unsaved input and no change", form, w.saved())
	}
	b.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "50", "roleRewards[1].level", "7", "roleRewards[1].roles", "400000000000000005 seven",
		"multipliers[1].multiplier", "2", "multipliers[1].targets", "300000000000000005 five")).want(200, "Saved.")
	got := asJSON(t, w.saved())
	rewards, multipliers := got["roleRewards"].([]any), got["multipliers"].([]any)
	if len(rewards) != 2 || len(multipliers) != 2 || rewards[0].(map[string]any)["level"] != 7.0 || rewards[0].(map[string]any)["id"] == "" ||
		rewards[1].(map[string]any)["id"] != "6ba7b813-9dad-41d1-80b4-00c04fd430c8" || multipliers[1].(map[string]any)["type"] != "Channel" {
		t.Errorf("the saved settings are %s, want the added and removed rows", w.saved())
	}
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
	bo.get("/guilds/299999999999999999/settings").want(404, "No community has this ID. Check the address, or ask the operator to set it up.").lacks("vanity")
	bo.get("/guilds/gophers/settings").want(404)
	b.post(settingsAddress, with(form, "do", "save", "vanity", "mine"), "Origin", "https://evil.example").want(403, "another site")
	b.get("/guilds/" + string(closed) + "/settings").want(403)
	if w.saved() != before {
		t.Errorf("refused forms changed the settings to %s", w.saved())
	}
}

// A user who was signed out returns to the form after signing in.
func TestAFormWithoutASessionLeadsBackToItsPage(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.browser()
	for address, back := range map[string]string{
		settingsAddress: settingsAddress, settingsAddress + "?saved=1": settingsAddress, "/profile": "/profile",
		"/profile/keys/x": "/profile/keys/x", "/profile/keys/x/delete": "/profile/keys/x/delete",
		"/profile/keys/x/rotate": "/", // has no page
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
		t.Errorf("the saved vanity is %v, want none", v)
	}
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
			t.Errorf("%s %s is saved as %v ms, want %d", c.text, c.unit, got, c.ms)
		}
	}
	for _, c := range [][2]string{{"", "minutes"}, {"a minute", "minutes"}, {"9.999", "seconds"}, {"1440.1", "minutes"}, {"1e2", "seconds"}, {"-1", "minutes"}, {"NaN", "seconds"}, {"1", "hours"}, {"99999999999999999999", "seconds"}, {"1,5", "minutes"}} {
		b.post(settingsAddress, with(form, "do", "save", "xpGainInterval", c[0], "xpGainInterval.unit", c[1])).want(422, `id="f-xpGainInterval-error">Must be a number of minutes or seconds`)
	}
	// A conflict shows both values in words.
	w.put(public, everySetting)
	b.post(settingsAddress, with(form, "do", "save", "xpGainInterval", "5", "xpGainInterval.unit", "minutes")).want(409, "<bdi>12.345 seconds</bdi>", "<bdi>5 minutes</bdi>")
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
	// An error in another field does not prevent the preview. An invalid curve has none.
	b.post(settingsAddress, with(form, "do", "check", "curve", "mee6", "xpPerMessageMin", "x")).want(422, "Curve preview", "2 to a lower one")
	b.post(settingsAddress, with(form, "do", "check", "curve", "own", "curve[0]", "0")).want(422).lacks("Curve preview", "plot__line--entered")
	b.post(settingsAddress, with(form, "do", "check")).want(200).lacks("Curve preview")
	if w.saved() != before || len(w.announced) > 0 {
		t.Errorf("a preview changed the settings to %s", w.saved())
	}
	if m, err := w.board.Member(t.Context(), must(w.cache.ByID(t.Context(), public)), id.User("500000000000000000")); err != nil || m.XP != 490150 {
		t.Errorf("after the previews the member is %+v (%v), want 490150 XP", m, err)
	}
}

// The axes have labels, and the highest curve reaches the upper part of the plot.
func TestThePlotFitsItsCurves(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	points := regexp.MustCompile(`points="([^"]+)"`)
	// Curves that nobody can climb are drawn too.
	for _, c := range [][2]string{{"3e9", "1"}, {"1e300", "1"}, {"0", "1e12"}, {"-1", "2.5"}} {
		b.post(settingsAddress, with(form, "do", "check", "curve", "own", "curve[0]", c[0], "curve[1]", c[1], "curve[2]", "")).want(200, "plot__line--entered").lacks("NaN", "Inf", "e+")
	}
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
			t.Errorf("curve %s: the highest point is at %v, want 32 to %v", c, highest, 32+0.26*264)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestTheSettingsPageHasSecurityHeaders(t *testing.T) {
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
			t.Errorf("%s has the headers %v, want the policy and no-store", what, got.header)
		}
		if found := inline.FindString(got.text); found != "" {
			t.Errorf("%s has %q, which the policy blocks", what, found)
		}
		got.lacks("<script>alert", "</textarea><script", "<i>&")
		if len(got.text) > 100<<10 {
			t.Errorf("%s has %d bytes, want at most 100 KiB", what, len(got.text))
		}
	}
}
