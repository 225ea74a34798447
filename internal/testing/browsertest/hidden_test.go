package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// A manager hides a member in the board's row, an open page of a visitor follows at once, and the manager shows the member again from the list.
func TestAManagerHidesAMemberAndShowsThemAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(object{"periods": []string{"week"}, "xpPerMessageMin": 50, "xpPerMessageMax": 50})
	key := s.key(g)
	first, second, third := s.member(key, g, "gopherina", 1000), s.member(key, g, "badger", 900), s.member(key, g, "mole", 800)
	for _, u := range []string{first, second, third} {
		s.messages(key, g, object{"userId": u, "channelId": channel})
	}
	s.adaManages(g)
	visitor, week, b := s.tab(t), s.tab(t), s.tab(t)
	ranks := func(of *tab, users ...string) {
		t.Helper()
		want := make([]string, len(users))
		for i, u := range users {
			want[i] = fmt.Sprintf("m%s #%d", u, i+1)
		}
		of.until(fmt.Sprintf("[...document.querySelectorAll('#board > li')].map((row) => `${row.id} #${row.querySelector('.rank').innerText.replace(/\\D/g, '')}`).join() === %q", strings.Join(want, ",")))
	}
	visitor.open("/leaderboard/" + g)
	week.open("/leaderboard/" + g + "?period=week")
	ranks(visitor, first, second, third)
	ranks(week, third, second, first)

	b.signIn("/leaderboard/" + g)
	b.pick("#m" + second + " summary")
	b.press("Hide from the leaderboard")
	b.fill("#hide-"+second, "staff")
	b.inspect("leaderboard-hide")
	b.pick("#m" + second + " form button")
	b.see("badger", "is hidden from the leaderboard of")
	b.inspect("hidden-member")
	ranks(visitor, first, third)
	ranks(week, third, first)
	visitor.see("2 on the board")

	b.press("Hidden members")
	b.see("badger", "950 XP", "hidden by a manager")
	b.fill("#user", "12")
	b.pick("section[aria-labelledby=hide] button")
	b.see("Nothing was changed")
	b.inspect("hidden-wrong")
	b.fill("#q", "badg")
	b.press("Find")
	b.see("Show all")
	b.press(": badger")
	b.inspect("hidden")
	b.pick("li form button")
	b.see("On the leaderboard again.", "Everybody is on the leaderboard")
	ranks(visitor, first, second, third)
	visitor.see("3 on the board")
}

// A user hides themselves on their profile, and the board says so above its rows.
func TestAUserHidesThemselves(t *testing.T) {
	t.Parallel()
	s := newSite(t, "LEVELBOARD_SNAPSHOT_INTERVAL=100ms")
	g := s.guild(object{"ownerId": newID()})
	key := s.key(g)
	s.member(key, g, "gopherina", 1000)
	user := object{"avatar": nil, "discriminator": "0", "username": "ada"}
	s.Do("POST", "/v2/levels/"+g+"/users/"+ada, key, object{"xp": 2000, "user": user}).Want(t, 200)
	b := s.tab(t)
	b.signIn("/leaderboard/" + g)
	b.until("document.getElementById('m" + ada + "')")
	b.until("fetch('/profile').then((answer) => answer.text()).then((text) => { window.seen = text.includes('Hide me from the leaderboard') }), window.seen")
	b.open("/profile")
	b.press("Hide me from the leaderboard")
	b.inspect("profile-hide")
	b.press("Hide me everywhere")
	b.see("You are hidden from the leaderboard.", "hidden")
	b.open("/leaderboard/" + g)
	b.see("You are hidden from this leaderboard", "2,000 XP", "1 on the board")
	b.inspect("leaderboard-own-hidden")
	b.press("Change it in your profile")
	b.press("Hide me from the leaderboard")
	b.press("Show me in Gophers")
	b.see("You are on the leaderboard again.")
	b.open("/leaderboard/" + g)
	b.until("document.getElementById('own" + ada + "')")
}
