package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/service"
	"levelboard/internal/testing/testenv"
)

func TestSigningInAndOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(object{"visibility": "private", "name": "Moles"})
	s.member(s.key(g), g, "digger", 100)
	s.adaManages(g)
	b := s.tab(t)
	b.open("/leaderboard/" + g)
	b.lacks("digger", "Moles")
	b.signIn("/leaderboard/" + g)
	b.see("Moles", "digger")
	b.press("Ada Lovelace")
	b.press("Sign out")
	b.see("Sign in")
	b.open("/leaderboard/" + g)
	b.lacks("digger", "Moles", "Ada Lovelace")
}

func TestTheAccountsMenuCloses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.tab(t)
	b.signIn("/")
	const open = "document.querySelector('.menu').open"
	b.press("Ada Lovelace")
	b.until(open)
	b.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Escape))
	b.until("!" + open + " && document.activeElement.matches('.menu > summary')")
	b.press("Ada Lovelace")
	b.until(open)
	b.pick("main h1")
	b.until("!" + open)
	// A click inside the menu does not close it.
	b.press("Ada Lovelace")
	b.until(open)
	b.press("Your profile")
	b.see("Your boards")
}

func TestTheBoardMovesWhileMessagesArrive(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(object{"xpPerMessageMin": 50, "xpPerMessageMax": 50})
	key := s.key(g)
	first, second := s.member(key, g, "first", 1000), s.member(key, g, "second", 990)
	b := s.tab(t)
	b.open("/leaderboard/" + g)
	order := func(users ...string) string {
		return fmt.Sprintf("[...document.querySelectorAll('#board > li')].map((row) => row.id).join() === %q", "m"+strings.Join(users, ",m"))
	}
	b.until(order(first, second))
	b.do(chromedp.Evaluate[chromedp.Void]("window.stayed = true"))
	s.messages(key, g, object{"userId": second, "channelId": channel})
	b.until(order(second, first))
	b.see("1,040")
	newcomer := newID()
	s.messages(key, g, object{"userId": newcomer, "channelId": channel, "user": object{"avatar": nil, "discriminator": "0", "username": "newcomer"}})
	b.until(order(second, first, newcomer))
	if !eval[bool](b, "window.stayed") {
		t.Error("the page was loaded again, want only new rows")
	}
}

// hostile are names that do harm unless they are escaped.
var hostile = []string{
	`<img src=x onerror="document.title='owned'">`, `<script>document.title="owned"</script>`, `"><svg onload=alert(1)>`, `'-alert(1)-'`, `{{.Site}}`,
}

func TestHostileNamesAreText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(object{"name": hostile[0], "roleRewards": []object{{"level": 1, "roles": []object{{"id": newID(), "name": hostile[1], "color": nil, "position": 1}}}}})
	key := s.key(g)
	var users []string
	for i, name := range hostile {
		users = append(users, s.member(key, g, name, 1000-i))
	}
	b := s.tab(t)
	b.open("/leaderboard/" + g)
	b.see(hostile...)
	// Rows of the stream are escaped too.
	s.Do("PATCH", "/v2/levels/"+g+"/users/"+users[4], key, object{"xp": 5000}).Want(t, 200)
	b.until(fmt.Sprintf("document.querySelector('#board > li').id === 'm%s'", users[4]))
	b.see(hostile...)
	for i, u := range users {
		b.open("/leaderboard/" + g + "/members/" + u)
		b.see(hostile[i])
		b.open("/v2/levels/" + g + "/users/" + u + "/card.svg")
		if n := eval[int](b, "document.querySelectorAll('script, [onload], [onerror]').length"); n != 0 {
			t.Errorf("the card of %s has %d elements that run code", hostile[i], n)
		}
	}
	if title := eval[string](b, "document.title"); title == "owned" {
		t.Error("the code in a name was run")
	}
}

func TestPagesWorkWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(object{"vanity": "quiet"})
	key := s.key(g)
	for i := range 101 {
		s.member(key, g, fmt.Sprintf("member%03d", i), 1000-i)
	}
	s.adaManages(g)
	b := s.tab(t)
	b.withoutScript()
	b.open("/")
	b.fill("#entry", "quiet")
	b.press("Show")
	b.see("member000")
	b.press("Next")
	b.see("member100")
	b.signIn("/leaderboard/quiet?page=2")
	b.see("You manage this")
}

func TestTheKeyboardReachesEverything(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(nil)
	u := s.member(s.key(g), g, "kit", 4200)
	b := s.tab(t)
	b.open("/leaderboard/" + g)
	for steps := 0; ; steps++ {
		b.do(chromedp.KeyEvent(kb.Tab))
		at := eval[string](b, `document.activeElement.outerHTML.slice(0, 200)`)
		if !eval[bool](b, `document.activeElement === document.body || parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2 && getComputedStyle(document.activeElement).outlineStyle !== "none"`) {
			t.Errorf("the focus on %s is not visible", at)
		}
		if steps == 0 && !strings.Contains(at, "Skip to content") {
			t.Errorf("the first tab stop is %s, want Skip to content", at)
		}
		if eval[bool](b, fmt.Sprintf("document.activeElement.closest('#m%s') !== null", u)) {
			break
		}
		if steps == 40 {
			t.Fatal("the keyboard did not reach the row in 40 steps")
		}
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(fmt.Sprintf("document.querySelector('#m%s details').open", u))
	b.see("XP to next level")
}

func TestRankCardsAreDrawn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(nil)
	u := s.member(s.key(g), g, "gopherina", 5100)
	b := s.tab(t)
	for _, theme := range []string{"light", "dark"} {
		b.open("/v2/levels/" + g + "/users/" + u + "/card.svg?theme=" + theme)
		b.until(`document.documentElement.getBBox().width > 300 && document.querySelectorAll("parsererror").length === 0`)
		if text := eval[string](b, "document.documentElement.textContent"); !strings.Contains(text, "gopherina") {
			t.Errorf("the card in the theme %s says %q, want gopherina", theme, text)
		}
		b.shoot("card-" + theme)
	}
	// The card also loads on a page of this host, with its content security policy.
	b.open("/leaderboard/" + g + "/members/" + u)
	b.until(`document.querySelector("img[alt='Rank card']").naturalWidth > 300`)
}

func TestAKeyIsMadeAndWorks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	moles, voles := s.guild(object{"name": "Moles", "visibility": "private"}), s.guild(object{"name": "Voles", "visibility": "private"})
	s.adaManages(moles, voles)
	b := s.tab(t)
	b.signIn("/profile")
	b.fill("#name", "my bot")
	b.pick("input[name=permission][value=read_write]")
	b.pick(fmt.Sprintf("input[name='guild[%s]']", moles))
	b.do(chromedp.Evaluate[chromedp.Void]("(() => { const make = [...document.querySelectorAll('button')].find((b) => b.textContent === 'Create key'); make.click(); make.click() })()"))
	b.see("Copy it now")
	secret := strings.TrimSpace(eval[string](b, "document.getElementById('secret').textContent"))
	u := s.member(secret, moles, "digger", 100)
	s.Do("POST", "/v2/levels/"+voles+"/users/"+u, secret, object{"xp": 1, "user": object{"avatar": nil, "discriminator": "0", "username": "x"}}).Want(t, 403)

	b.press("Done")
	b.see("Grant access to Voles")
	b.open("/profile")
	b.see("1 of 25 keys")
	b.press("Manage my bot")
	b.press("Grant access to Voles")
	b.see("Revoke access to Voles")
	s.member(secret, voles, "burrower", 100)

	b.press("Delete this key…")
	b.press("Delete key")
	b.see("No keys yet")
	s.Do("GET", "/v2/levels/"+moles+"/users/"+u, secret, nil).Want(t, 401)
}

func TestSettingsAreEditedAndSaved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(object{"name": "Moles"})
	s.Do("PUT", "/v2/guilds/"+g+"/directory", s.key(g), object{"roles": []object{{"id": "300000000000000001", "name": "Digger"}}}).Want(t, 204)
	s.adaManages(g)
	b := s.tab(t)
	b.signIn("/guilds/" + g + "/settings")
	b.look(360, "light")
	// The bar with the buttons is visible, and leaving the page warns only after edits.
	const warns = "!dispatchEvent(new Event('beforeunload', { cancelable: true }))"
	b.until("document.querySelector('.savebar').getBoundingClientRect().bottom <= innerHeight && scrollY === 0 && !(" + warns + ")")
	b.lacks("Unsaved changes")
	b.fill("[name=vanity]", "No Spaces")
	b.fill("[name=xpGainInterval]", "0.1")
	b.see("Unsaved changes", "Discard")
	b.until(warns)
	b.press("Save")
	for _, name := range []string{"vanity", "xpGainInterval"} {
		b.until("document.querySelector('[name=" + name + "]').matches('[aria-invalid=true][aria-describedby*=error]')")
	}
	b.see("XP cooldown: Must be a number of minutes or seconds", "Unsaved changes")
	b.until(warns + " && document.activeElement.matches('[role=alert]')")
	b.inspect("settings-wrong")
	b.fill("[name=xpGainInterval]", "2")
	b.fill("[name=vanity]", "moles")
	b.fill("[name=xpPerMessageMin]", "20")
	b.fill("[name=timeZone]", "Europe/Berlin")
	b.pick("[name='periods[week]']")
	b.press("Add reward")
	b.fill("[name='roleRewards[0].level']", "5")
	b.fill("[name='roleRewards[0].add']", "digger")
	b.press("Add season")
	b.fill("[name='seasons[0].name']", "Winter")
	// A role from the list is added at once, and only once.
	for range 2 {
		b.fill("[name='roleRewards[0].add']", "Digger")
		b.do(chromedp.KeyEvent(kb.Tab))
		b.until("document.querySelector(\"[name='roleRewards[0].add']\").value === ''")
	}
	if got := eval[string](b, "document.querySelector(\"[name='roleRewards[0].roles']\").value"); got != "300000000000000001 Digger\n" {
		t.Errorf("the chosen role is added as %q", got)
	}
	b.fill("[name='seasons[0].id']", "winter")
	b.press("Save")
	b.until("document.querySelector('[name=\"seasons[0].start\"]').getAttribute('aria-invalid') === 'true'")
	eval[string](b, "document.querySelector(\"[name='seasons[0].start']\").value = '2027-12-01'") // typing depends on the browser's language
	eval[string](b, "document.querySelector(\"[name='seasons[0].end']\").value = '2028-03-01'")   // typing depends on the browser's language
	b.press("Save")
	b.see("Saved.")
	b.see("Week 2")
	b.until("!(" + warns + ")")
	b.open("/guilds/" + g + "/settings")
	if got := eval[string](b, "document.querySelector('[name=xpPerMessageMin]').value"); got != "20" {
		t.Errorf("after saving the form shows %q, want 20", got)
	}
	kept := s.Do("GET", "/admin/guilds/"+g, "", nil, apitest.AdminToken(service.AdminToken)).Want(t, 200)
	if cooldown := apitest.At[float64](t, kept, "xpGainInterval"); cooldown != 120_000 {
		t.Errorf("a cooldown of 2 minutes is saved as %v ms", cooldown)
	}
	if vanity, least := apitest.At[string](t, kept, "vanity"), apitest.At[float64](t, kept, "xpPerMessageMin"); vanity != "moles" || least != 20 {
		t.Errorf("the saved vanity is %q and the minimum %v, want moles and 20", vanity, least)
	}
	if zone, start := apitest.At[string](t, kept, "timeZone"), apitest.At[string](t, kept, "seasons", 0, "start"); zone != "Europe/Berlin" || start != "2027-12-01" {
		t.Errorf("the saved zone is %q and the season starts on %q, want Europe/Berlin and 2027-12-01", zone, start)
	}
	b.open("/leaderboard/moles")
	b.see("Moles")
}

func TestAMemberIsFoundByName(t *testing.T) {
	t.Parallel()
	s := newSite(t, "LEVELBOARD_SNAPSHOT_INTERVAL=100ms")
	g := s.guild(nil)
	key := s.key(g)
	u := s.member(key, g, "gopherina", 100)
	s.member(key, g, "badger", 200)
	b := s.tab(t)
	b.open("/leaderboard/" + g)
	b.fill("#q", u)
	b.press("Find")
	b.until(fmt.Sprintf("location.href.includes(%q) && document.readyState === 'complete'", u))
	b.see("gopherina")
	// A name can be found once it is archived.
	testenv.Wait(t, "the name is found", func() bool {
		b.open("/leaderboard/" + g + "/search?q=goph")
		return strings.Contains(b.text(), "gopherina")
	}, b.glance)
	b.lacks("badger")
}

// A member who manages nothing finds their boards and all their stored data.
func TestAMemberFindsBoardsAndStoredData(t *testing.T) {
	t.Parallel()
	s := newSite(t, "LEVELBOARD_SNAPSHOT_INTERVAL=100ms")
	owner := newID()
	g := s.guild(object{"ownerId": owner, "periods": []string{"day"}, "xpPerMessageMin": 50, "xpPerMessageMax": 50})
	key := s.key(g)
	s.member(key, g, "badger", 2000)
	s.messages(key, g, object{"userId": ada, "channelId": channel, "user": object{"avatar": nil, "discriminator": "0", "username": "ada"}})
	s.Do("PATCH", "/v2/levels/"+g+"/users/"+ada, key, object{"xp": 300}).Want(t, 200)
	b := s.tab(t)
	b.signIn("/")
	testenv.Wait(t, "the entry is archived", func() bool {
		b.open("/")
		return strings.Contains(b.text(), "Your boards")
	}, b.glance)
	b.see("Gophers", "#2", "of 2")
	b.lacks("Communities you manage", "set up here")
	b.open("/profile")
	b.see("Your boards", "300", "Download as JSON", "Erase my data")
	b.lacks("Create a key")
	b.fill("#confirm", "no")
	b.press("Erase my data")
	b.see("Nothing was erased.")
	b.until("document.activeElement.id === 'confirm' && document.activeElement.getBoundingClientRect().bottom < innerHeight")
	b.inspect("profile-wrong")
	var data string
	testenv.Wait(t, "all of it is archived", func() bool {
		data = eval[string](b, "fetch('/profile/data.json').then((answer) => answer.text())", chromedp.EvalAwaitPromise)
		return strings.Contains(data, `"action":"set"`)
	}, b.glance)
	for _, want := range []string{g, ada, `"xp":300`, `"gained":50`, `"action":"set"`, `"after":300`} {
		if !strings.Contains(data, want) {
			t.Errorf("the stored data lacks %q:\n%s", want, data)
		}
	}
	if strings.Contains(data, owner) {
		t.Errorf("the stored data names another user:\n%s", data)
	}
	b.press("Gophers")
	b.see("ada", "Rank")
}

// A search on the page of a period ranks by that period.
func TestASearchRanksByItsPeriod(t *testing.T) {
	t.Parallel()
	s := newSite(t, "LEVELBOARD_SNAPSHOT_INTERVAL=100ms")
	g := s.guild(object{"periods": []string{"week"}, "xpPerMessageMin": 50, "xpPerMessageMax": 50})
	key := s.key(g)
	s.member(key, g, "gopherina", 1000)
	u := s.member(key, g, "gopherino", 100)
	s.messages(key, g, object{"userId": u, "channelId": channel})
	b := s.tab(t)
	testenv.Wait(t, "both are found", func() bool {
		b.open("/leaderboard/" + g + "?period=week")
		b.fill("#q", "@goph")
		b.press("Find")
		b.until("location.pathname.endsWith('/search') && document.readyState === 'complete'")
		return strings.Contains(b.text(), "gopherina") && strings.Contains(b.text(), "gopherino")
	}, b.glance)
	b.see("Ranks and XP gained of Week of", "+50")
	b.lacks("1,000")
	b.press("gopherino")
	b.until("location.search.includes('period=2') && location.hash.length > 2")
	// Gains update on the open page.
	s.Do("PATCH", "/v2/levels/"+g+"/users/"+u, key, object{"xp": object{"increment": 25}}).Want(t, 200)
	b.see("+75 XP", "75 XP gained")
}

func TestLiveRowsCanBePausedAndResumed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(nil)
	key := s.key(g)
	u := s.member(key, g, "gopherina", 100)
	b := s.tab(t)
	b.open("/leaderboard/" + g)
	dot := func(variable string) {
		t.Helper()
		b.until("(() => { const is = document.createElement('i'); is.style.color = 'var(--" + variable + ")'; document.body.append(is); const want = getComputedStyle(is).color; is.remove();" +
			"return getComputedStyle(document.getElementById('live'), '::before').backgroundColor === want })()")
	}
	dot("good")
	b.press("Pause")
	dot("strong-line")
	b.press("Go live")
	dot("good")
	s.Do("PATCH", "/v2/levels/"+g+"/users/"+u, key, object{"xp": 5000}).Want(t, 200)
	b.see("5,000 XP", "Pause")
}

func TestALostStreamIsShownAndAPrivateBoardEndsIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(nil)
	key := s.key(g)
	u := s.member(key, g, "gopherina", 100)
	b := s.tab(t)
	b.open("/leaderboard/" + g)
	b.see("gopherina", "Pause")
	b.offline(&network.Conditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
	b.do(chromedp.Evaluate[chromedp.Void]("document.getElementById('live').click(); document.getElementById('live').click()")) // starts a new stream
	b.see("Reconnecting")
	s.Do("PATCH", "/v2/levels/"+g+"/users/"+u, key, object{"xp": 5000}).Want(t, 200)
	b.offline()
	b.see("5,000 XP")
	b.lacks("Reconnecting")
	settings := object{"name": "Gophers", "memberCount": 5000, "ownerId": ada, "visibility": "private"}
	s.Do("PUT", "/admin/guilds/"+g, "", settings, apitest.AdminToken(service.AdminToken)).Want(t, 200)
	b.see("This board can no longer be read.")
}
