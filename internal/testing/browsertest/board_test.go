package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/service"
	"levelboard/internal/testing/testenv"
)

// A page that is open when its period ends keeps the final rows, says so, and links to the next period. These two zones are 26 hours apart,
// so that a day of the first is always over in the second.
func TestAPeriodEndsWhileItsPageIsOpen(t *testing.T) {
	t.Parallel()
	s := newSite(t, "LEVELBOARD_SNAPSHOT_INTERVAL=100ms")
	over := object{"periods": []string{"day"}, "timeZone": "Etc/GMT+12", "xpPerMessageMin": 50, "xpPerMessageMax": 50}
	g := s.guild(over)
	key := s.key(g)
	u := s.member(key, g, "winner", 100)
	s.messages(key, g, object{"userId": u, "channelId": channel})
	b := s.tab(t)
	b.open("/leaderboard/" + g + "?period=day")
	b.see("winner", "+50 XP", "50 XP gained")
	heading := eval[string](b, "document.querySelector('.board__period h2').textContent")
	b.until("document.getElementById('live').dataset.live === 'on'")
	settings := object{"name": "Gophers", "memberCount": 5000, "ownerId": ada}
	over["timeZone"] = "Etc/GMT-14"
	for name, value := range over {
		settings[name] = value
	}
	s.Do("PUT", "/admin/guilds/"+g, "", settings, apitest.AdminToken(service.AdminToken)).Want(t, 200)
	b.see("This period has ended. These are its final rows.", heading, "winner", "+50 XP", "50 XP gained")
	b.lacks("Pause", "No one is ranked yet")
	b.press("See the one that runs now")
	b.until(fmt.Sprintf("document.readyState === 'complete' && document.querySelector('.board__period h2').textContent !== %q", heading))
	b.see("No one is ranked yet")
}

// A manager who types a level sees its XP, and the page says once what was changed.
func TestAManagerSetsALevel(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(nil)
	u := s.member(s.key(g), g, "digger", 1234)
	s.adaManages(g)
	b := s.tab(t)
	b.signIn("/leaderboard/" + g + "/members/" + u)
	b.see("Manage member")
	b.do(selectOption("#op", "level"))
	b.fill("#xp", "10")
	b.see("From 1,234 XP, level 5, to 4,150 XP, level 10.")
	b.inspect("member-level")
	b.fill("#xp", "x")
	b.see("The level must be a whole number")
	b.pick("[name=confirm]")
	b.press("Change XP")
	b.until("document.activeElement.id === 'xp' && document.activeElement.getAttribute('aria-invalid') === 'true'")
	b.fill("#xp", "10")
	b.press("Change XP")
	b.see("XP updated: 1,234 before, 4,150 now.")
	b.until("location.search === ''")
	b.open(eval[string](b, "location.pathname"))
	b.lacks("XP updated")
}

// A stream that is open but silent counts as lost too.
func TestASilentStreamIsLost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(nil)
	key := s.key(g)
	u := s.member(key, g, "gopherina", 100)
	proxy := testenv.NewProxy(t, strings.TrimPrefix(s.url, "http://"))
	b := s.tab(t)
	b.base = "http://" + proxy.Addr()
	b.open("/leaderboard/" + g)
	b.see("gopherina", "Pause")
	b.do(chromedp.Evaluate[chromedp.Void]("window.here = 0; new EventSource(document.getElementById('board').dataset.live).addEventListener('here', () => { here++ })"))
	b.until("here >= 2")
	proxy.Mute("event: ")
	b.see("Reconnecting")
	s.Do("PATCH", "/v2/levels/"+g+"/users/"+u, key, object{"xp": 5000}).Want(t, 200)
	proxy.Mute("")
	b.see("5,000 XP")
	b.until("document.getElementById('live').dataset.live === 'on'")
}

func TestTheChosenColorsAreKept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.tab(t)
	b.withoutScript()
	b.open("/sign-in")
	b.look(390, "light")
	ground := func() string { return eval[string](b, "getComputedStyle(document.body).backgroundColor") }
	light := ground()
	b.press("Dark")
	b.until("document.documentElement.dataset.theme === 'dark'")
	dark := ground()
	b.open("/nowhere")
	if light == dark || ground() != dark {
		t.Errorf("the background is %s, then %s, then %s, want another and then the same", light, dark, ground())
	}
	b.press("System")
	b.until("!document.documentElement.dataset.theme")
	if ground() != light {
		t.Errorf("the background ends as %s, want %s", ground(), light)
	}
}
