package web_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheFormKnowsUnsavedEdits(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	const saved, unsaved = `data-edits="saved"`, `data-edits="unsaved"`
	form := b.get(settingsAddress).want(200, saved, `id="unsaved" role="status" hidden`).form()
	for name := range form { // browsers send CRLF
		form.Set(name, strings.ReplaceAll(form.Get(name), "\n", "\r\n"))
	}
	b.post(settingsAddress, with(form, "do", "check")).want(200, saved)
	b.post(settingsAddress, with(form, "do", "check", "xpPerMessageMax", "998")).want(200, unsaved, `id="unsaved" role="status">Unsaved changes`)
	b.post(settingsAddress, with(form, "do", "save", "vanity", "a b")).want(422, unsaved)
	b.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "998")).want(200, "Saved.", saved)
}

func TestEditsOfTwoManagersAreMerged(t *testing.T) {
	w := newSettingsWorld(t)
	one, two := w.manager(), w.manager()
	form := one.get(settingsAddress).form()
	two.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "500", "vanity", "theirs")).want(200, "Saved.")
	// Edits of different settings are merged.
	one.post(settingsAddress, with(form, "do", "save", "timeZone", "UTC", "roleRewards[1].level", "11")).want(200, "Saved.", `value="theirs"`, `value="500"`, `value="11"`)
	if saved := asJSON(t, w.saved()); saved["xpPerMessageMax"] != 500.0 || saved["vanity"] != "theirs" || saved["timeZone"] != "UTC" {
		t.Fatalf("the saved settings are %v, want the edits of both", saved)
	}
	// Only edits of the same setting conflict.
	theirs := w.saved()
	got := one.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "700", "xpPerMessageMin", "2")).
		want(409, "These settings changed while you were editing", "Maximum XP per message</th>", "<bdi>500</bdi>", "<bdi>700</bdi>", `value="theirs"`, "Overwrite the saved settings").
		lacks("Minimum XP per message</th>", "Short name</th>")
	if w.saved() != theirs {
		t.Fatalf("a conflict changed the settings to %s", w.saved())
	}
	// A third edit of the same setting makes another conflict.
	two.post(settingsAddress, with(two.get(settingsAddress).form(), "do", "save", "xpPerMessageMax", "600")).want(200, "Saved.")
	got = one.post(settingsAddress, with(got.form(), "do", "save")).want(409, "<bdi>600</bdi>", "<bdi>700</bdi>")
	kept := got.form()
	one.post(settingsAddress, with(kept, "do", "save")).want(200, "Saved.")
	if saved := asJSON(t, w.saved()); saved["xpPerMessageMax"] != 700.0 || saved["vanity"] != "theirs" || saved["xpPerMessageMin"] != 2.0 {
		t.Errorf("the saved settings are %v, want the confirmed 700 and the other edits", saved)
	}
	// Or a manager keeps the saved values, for each setting in conflict.
	got = one.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "800", "curve", "amari")).want(409, "<bdi>700</bdi>", "<bdi>800</bdi>").lacks("Curve</th>")
	one.post(settingsAddress, with(got.form(), "do", "save", "take xpPerMessageMax", "saved")).want(200, "Saved.", `value="700"`)
	if saved := asJSON(t, w.saved()); saved["xpPerMessageMax"] != 700.0 || saved["curve"] != "amari" {
		t.Errorf("the saved settings are %v, want the old 700 and the new curve", saved)
	}
	// The operator's edits conflict too. Errors are shown beside the conflict.
	form = one.get(settingsAddress).form()
	w.put(public, everySetting)
	one.post(settingsAddress, with(form, "do", "save", "visibility", "nobody", "vanity", "mine")).want(409, "changed while you were editing", "<h2>Nothing was changed</h2>", "Short name</th>")
}

// A manager whose session expires while typing signs in elsewhere and sends the same form.
func TestAFormOutlivesItsSession(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := with(b.get(settingsAddress).form(), "do", "save", "xpPerMessageMax", "500", "roleRewards[1].roles", "400000000000000003 \"><b>R\r\n400000000000000005 five")
	stranger, before := w.browser(), w.saved()
	got := stranger.post(settingsAddress, form).want(401, "Your session has ended", "sign in in another tab", "Save again", `target="_blank"`).lacks("<b>R", "900000000000000002")
	if w.saved() != before {
		t.Fatalf("without a session the form changed the settings to %s", w.saved())
	}
	b.post(settingsAddress, with(got.form(), "do", "save")).want(200, "Saved.", "five")
	if saved := asJSON(t, w.saved()); saved["xpPerMessageMax"] != 500.0 {
		t.Errorf("the saved settings are %v, want 500", saved)
	}
}

func TestTheSameFormTwiceIsSavedOnce(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	// A new row has no id in the form, and gets one when it is saved.
	form := b.post(settingsAddress, with(b.get(settingsAddress).form(), "do", "add-reward")).want(200, "Reward 3").form()
	form = with(form, "do", "save", "vanity", " Badgers ", "roleRewards[2].level", "30", "roleRewards[2].roles", "400000000000000009 nine")
	// Many clicks: some forms are sent before the first is answered.
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
			t.Errorf("the form is answered %s, want a redirect to the saved settings", got)
		}
	}
	saved := w.saved()
	b.post(settingsAddress, form).want(200, "Saved.", "Reward 3", `value="badgers"`).lacks("Reward 4")
	if w.saved() != saved || len(w.announced) != 1 {
		t.Errorf("the form sent twice saved %s, then %s, and announced %q, want one change", saved, w.saved(), w.announced)
	}
}

func TestAFormCanBeSavedAgainAfterGoingBack(t *testing.T) {
	w := newSettingsWorld(t)
	b := w.manager()
	form := b.get(settingsAddress).form()
	b.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "500")).want(200, "Saved.")
	// The browser may send the form again, or restore it. Nobody else edited meanwhile.
	b.post(settingsAddress, with(form, "do", "check", "xpPerMessageMax", "500")).want(200, `data-edits="saved"`).lacks("changed while you were editing")
	b.post(settingsAddress, with(form, "do", "save", "xpPerMessageMax", "500", "xpPerMessageMin", "9")).want(200, "Saved.")
	if saved := asJSON(t, w.saved()); saved["xpPerMessageMax"] != 500.0 || saved["xpPerMessageMin"] != 9.0 {
		t.Errorf("the saved settings are %v, want 500 and 9", saved)
	}
}
