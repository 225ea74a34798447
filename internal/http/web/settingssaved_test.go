package web_test

import (
	"fmt"
	"strings"
	"testing"
)

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
