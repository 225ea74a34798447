package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/service"
	"levelboard/internal/testing/testenv"
)

// Edits of two managers are merged. Edits of both to the same setting are a conflict.
func TestEditsOfTwoManagersAreMerged(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(object{"name": "Moles"})
	s.adaManages(g)
	one, two := s.tab(t), s.tab(t)
	for _, b := range []*tab{one, two} {
		b.signIn("/guilds/" + g + "/settings")
	}
	one.fill("[name=xpPerMessageMax]", "90")
	one.press("Save")
	one.see("Saved.")
	two.fill("[name=timeZone]", "Europe/Berlin")
	two.press("Save")
	two.see("Saved.")
	one.open("/guilds/" + g + "/settings")
	one.until("document.querySelector('[name=xpPerMessageMax]').value === '90' && document.querySelector('[name=timeZone]').value === 'Europe/Berlin'")
	one.fill("[name=xpPerMessageMax]", "80")
	one.fill("[name=vanity]", "moles")
	two.fill("[name=xpPerMessageMax]", "70")
	one.press("Save")
	one.see("Saved.")
	two.press("Save")
	two.see("These settings changed while you were editing", "Maximum XP per message", "80", "70")
	two.lacks("Short name moles")
	two.inspect("settings-conflict")
	two.pick("[name='take xpPerMessageMax'][value=saved]")
	two.press("Overwrite the saved settings")
	two.see("Saved.")
	kept := s.Do("GET", "/admin/guilds/"+g, "", nil, apitest.AdminToken(service.AdminToken)).Want(t, 200)
	if most, vanity := apitest.At[float64](t, kept, "xpPerMessageMax"), apitest.At[string](t, kept, "vanity"); most != 80 || vanity != "moles" {
		t.Errorf("the saved maximum is %v and the vanity %q, want 80 and moles", most, vanity)
	}
	// After signing out in one tab, the other keeps its edits.
	one.fill("[name=xpPerMessageMin]", "7")
	one.do(chromedp.Evaluate[chromedp.Void]("fetch('/sign-out', { method: 'POST' }).then(() => { window.out = true })"))
	one.until("window.out")
	one.press("Save")
	one.see("Your session has ended", "sign in in another tab")
	one.inspect("settings-kept")
	one.press("sign in in another tab")
	testenv.Wait(t, "the other tab is signed in", func() bool {
		return eval[int](one, "fetch('/profile').then((answer) => answer.status)", chromedp.EvalAwaitPromise) == 200
	}, one.glance)
	one.press("Save again")
	one.see("Saved.")
	one.until("document.querySelector('[name=xpPerMessageMin]').value === '7'")
}

// inView is true if an element has the focus and is visible above the bar with the buttons.
func inView(selector string) string {
	return fmt.Sprintf(`document.activeElement.matches(%q) && (({ top, bottom }) => top >= 0 && bottom <= document.querySelector(".savebar").getBoundingClientRect().top)(document.activeElement.getBoundingClientRect())`, selector)
}

// An error and a new row get the focus and are in view, also without JavaScript.
func TestErrorsAndNewRowsGetTheFocus(t *testing.T) {
	t.Parallel()
	rewards := []object{}
	for level := range 12 {
		rewards = append(rewards, object{"level": level, "roles": []object{}})
	}
	for _, script := range []bool{true, false} {
		s := newSite(t)
		g := s.guild(object{"name": "Moles", "roleRewards": rewards})
		s.adaManages(g)
		b := s.tab(t)
		if !script {
			b.withoutScript()
		}
		b.look(1280, "light")
		b.signIn("/guilds/" + g + "/settings")
		b.press("Add reward")
		b.until(inView("[name='roleRewards[12].level']"))
		b.do(chromedp.KeyEvent("13"))
		b.press("Add season")
		b.until(inView("[name='seasons[0].name']"))
		b.press("Remove season 1")
		b.see("No seasons yet.")
		b.fill("[name=timeZone]", "Nowhere")
		b.press("Save")
		b.until(inView("[name=timeZone][aria-invalid=true]"))
		b.fill("[name=timeZone]", "Europe/Berlin")
		if !script {
			continue
		}
		// A check keeps the scroll position, and shows its result beside the buttons.
		b.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[name=timeZone]').scrollIntoView({ block: 'center' }); window.here = true"))
		b.do(chromedp.KeyEvent(kb.Enter))
		b.until("!window.here && document.querySelector('.savebar').innerText.includes('No errors found.')")
		b.until(inView("[name=timeZone]"))
		b.press("Save")
		b.see("Saved.")
		// Going back shows what is saved now, not a conflict with the manager's own edit.
		b.open("/guilds/" + g + "/settings")
		b.fill("[name=timeZone]", "Europe/Vienna")
		b.press("Save")
		b.see("Saved.")
		b.do(chromedp.Evaluate[chromedp.Void]("history.go(-1)"))
		b.until("!location.search && document.querySelector('[name=timeZone]').value === 'Europe/Vienna' && document.getElementById('unsaved').hidden")
	}
}
