package web_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the binary embeds the same zones

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
)

var offeredZone = regexp.MustCompile(`<option value="([^"]+)">`)

func TestAllOfferedTimeZonesExist(t *testing.T) {
	w := newSettingsWorld(t)
	_, list, _ := strings.Cut(w.manager().get(settingsAddress).want(200, `list="zones"`).text, `<datalist id="zones">`)
	list, _, _ = strings.Cut(list, "</datalist>")
	var names []string
	for _, found := range offeredZone.FindAllStringSubmatch(list, -1) {
		names = append(names, found[1])
		document := fmt.Sprintf(`{"name":"x","memberCount":1,"ownerId":"900000000000000001","timeZone":%q}`, found[1])
		if _, err := guild.Parse(public, []byte(document)); err != nil {
			t.Errorf("the offered zone %s: %v", found[1], err)
		}
	}
	if len(names) < 300 || !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%d zones are offered, want 300 or more, sorted, each once: %q", len(names), names)
	}
	for _, name := range []string{"UTC", "Europe/Stockholm", "America/New_York", "Asia/Kolkata"} {
		if !slices.Contains(names, name) {
			t.Errorf("the zone %s is not offered", name)
		}
	}
}

func TestPeriodsCanBeSet(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	form = b.post(settingsAddress, with(form, "do", "add-season")).want(200, "Season 3", `name="seasons[2].start" type="date"`).form()
	form = b.post(settingsAddress, with(form, "do", "remove-season 0")).want(200, "Season 2").lacks("Season 3").form()
	b.post(settingsAddress, with(form, "do", "save", "timeZone", " America/New_York ", "periods[day]", "-", "periods[week]", "on", "periods[year]", "on",
		"seasons[0].name", "Long winter", "seasons[1].id", " summer-27 ", "seasons[1].name", "Summer", "seasons[1].start", "2027-06-01", "seasons[1].end", "2027-09-01")).
		want(200, "Saved.")
	want := whole(t, everySetting)
	for property, value := range asJSON(t, `{"timeZone":"America/New_York","periods":["month","week"],"seasons":[
		{"id":"winter","name":"Long winter","start":"2026-12-01","end":"2027-03-01"},{"id":"summer-27","name":"Summer","start":"2027-06-01","end":"2027-09-01"}]}`) {
		want[property] = value
	}
	if got := asJSON(t, w.saved()); !reflect.DeepEqual(got, want) {
		t.Errorf("the saved settings are %v\nwant %v", got, want)
	}
	form = with(b.get(settingsAddress).form(), "do", "save", "periods[week]", "-", "periods[month]", "-")
	for name := range form {
		if strings.HasPrefix(name, "seasons[") {
			form.Del(name)
		}
	}
	b.post(settingsAddress, form).want(200, "Saved.", "No seasons yet.", "No active period.")
	if got := asJSON(t, w.saved()); len(got["periods"].([]any)) != 0 || len(got["seasons"].([]any)) != 0 {
		t.Errorf("the saved settings are %v, want no periods and no seasons", got)
	}
}

func TestThePageSaysWhenPeriodsEnd(t *testing.T) {
	w := newSettingsWorld(t)
	at := func(text string) *browser {
		t.Helper()
		now := must(time.Parse(time.RFC3339, text))
		w.mu.Lock()
		w.now = now
		w.mu.Unlock()
		return w.manager()
	}
	at("2026-11-30T22:00:00Z").get(settingsAddress).want(200,
		`<li>Day 2026-11-30 ends <time datetime="2026-11-30T23:00:00Z" title="2026-11-30 23:00 UTC">in 60 minutes</time>, on Tue 1 Dec 2026, 00:00 CET.</li>`,
		`<li>Month 2026-11 ends <time datetime="2026-11-30T23:00:00Z"`).lacks("<li>Week", "<li>Season")
	at("2026-12-21T10:00:00Z").get(settingsAddress).want(200,
		`<li>Season <bdi>Winter</bdi> ends <time datetime="2027-02-28T23:00:00Z" title="2027-02-28 23:00 UTC">in 70 days</time>, on Mon 1 Mar 2027, 00:00 CET.</li>`)
}

func TestASeasonThatHasClosedKeepsItsDates(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	g := must(w.archive.Guild(t.Context(), public))
	held := must(w.archive.AcquireLease(t.Context(), "a", time.Minute, false))
	season := g.Seasons[1].Period()
	if _, err := w.archive.ClosePeriod(t.Context(), held, periods.Closing{Guild: g, Period: &season, Begins: time.Unix(0, 0), Ends: time.Unix(1, 0), Board: true, Open: periods.Open{}}); err != nil {
		t.Fatal(err)
	}
	form, before := b.get(settingsAddress).form(), w.saved()
	b.post(settingsAddress, with(form, "do", "save", "seasons[1].start", "2026-12-02")).
		want(422, "<h2>Nothing was changed</h2>", `href="#f-seasons">Seasons</a>`, `id="f-seasons" tabindex="-1" autofocus>A season that has closed keeps its dates.`, `value="2026-12-02"`)
	if w.saved() != before {
		t.Errorf("new dates of a closed season changed the settings to %s", w.saved())
	}
	b.post(settingsAddress, with(form, "do", "save", "seasons[1].name", "Frost")).want(200, "Saved.")
	form = with(b.get(settingsAddress).form(), "do", "remove-season 1")
	b.post(settingsAddress, with(b.post(settingsAddress, form).want(200).form(), "do", "save")).want(200, "Saved.").lacks("Frost")
	if p, err := w.archive.Closed(t.Context(), leaderboard.Ref(g), season.ID); err != nil || p.Kind != period.Seasonal {
		t.Errorf("the closed season's board is %+v (%v), want it kept", p, err)
	}
}
