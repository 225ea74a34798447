package web_test

import (
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/hydrate"
)

// A board's pages show a visitor no hidden member.
func TestPagesDoNotShowHiddenMembers(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	manager, visitor := s.browser(), s.browser()
	manager.signIn()
	manager.get(memberPath(1)+"/standing").want(200, "Hide from the leaderboard", `action="`+memberPath(1)+`/hidden"`)
	visitor.get(memberPath(1) + "/standing").want(200).lacks("Hide from the leaderboard")
	manager.post(memberPath(1)+"/hidden", url.Values{"hidden": {"yes"}}).want(200, "Hidden member")
	for _, path := range []string{"", "?member=" + string(memberID(2)), "/search?q=member", "/members/" + string(memberID(2))} {
		visitor.get("/leaderboard/gophers" + path).want(200).lacks(string(memberID(1)))
	}
	visitor.get(memberPath(1)).want(404)
	visitor.get(memberPath(1) + "/standing").want(404)
	manager.get(memberPath(1)).want(200, "by a manager", "Show on the leaderboard")
	found := "/guilds/" + string(public) + "/hidden?q=member"
	manager.get("/leaderboard/gophers/search?q=member").want(200, found).lacks(string(memberID(1)))
	visitor.get("/leaderboard/gophers/search?q=member").want(200).lacks(found)
}

// Only a hidden user sees above the board that they are hidden.
func TestTheOwnRowSaysThatItIsHidden(t *testing.T) {
	s := newSite(t, options{})
	all := members(3)
	all[1].UserID = ada
	s.fill(all)
	b := s.browser()
	b.signIn()
	const says = "You are hidden from this leaderboard by a manager"
	b.get("/leaderboard/gophers").want(200, `id=own`+ada).lacks(says)
	b.post("/leaderboard/gophers/members/"+ada+"/hidden", url.Values{"hidden": {"yes"}}).want(200, "Hidden member")
	b.get("/leaderboard/gophers").want(200, says, "4,999,999 XP", "/profile#boards").lacks("id=own"+ada, "id=m"+ada)
	b.get("/leaderboard/gophers?member=me").want(200, says).lacks(`id="wrong"`)
	s.browser().get("/leaderboard/gophers").want(200).lacks(says, ada)
}

func TestAUserHidesThemselvesOnTheProfile(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	b := s.browser()
	b.signIn()
	b.post("/profile/hidden", url.Values{"hidden": {"yes"}, "guild": {string(public)}}).want(404, "no entry")
	b.post("/leaderboard/gophers/members/"+ada+"/hidden", url.Values{"hidden": {"yes"}})
	b.get("/profile").want(200, "Hide me from the leaderboard", "also hidden by a manager", "Hide me<")
	b.post("/profile/hidden", url.Values{"hidden": {"yes"}, "guild": {string(public)}}).want(200, "You are hidden from the leaderboard.", "Show me<")
	b.get("/profile/data.json").want(200, `"xp":null`, `"hidden":["manager","self"]`)
	b.post("/profile/hidden", url.Values{"hidden": {"no"}}).want(200, "You are on the leaderboard again.", "Hide me<")
	b.get("/profile/data.json").want(200, `"hidden":["manager"]`)
	s.browser().post("/profile/hidden", url.Values{"hidden": {"yes"}}).want(401)
}

func TestManagersSeeHiddenMembers(t *testing.T) {
	w := newSettingsWorldWith(t, func(w *settingsWorld, s *site, _ *redisstore.Store, hydrator *hydrate.Hydrator) {
		s.deps.Hiding = hiding.New(w.archive, hydrator, w.board, w, slog.New(slog.DiscardHandler))
	})
	w.members(500, 400)
	const address, first, bot = "/guilds/" + string(public) + "/hidden", "500000000000000000", "600000000000000001"
	manager, stranger := w.manager(), w.browser()
	stranger.get(address).want(401)
	stranger.post(address, url.Values{"hidden": {"yes"}, "user": {bot}}).want(401)
	manager.get(address).want(200, "Everybody is on the leaderboard")
	for _, form := range []url.Values{{"hidden": {"yes"}, "user": {"12"}}, {"hidden": {"yes"}, "user": {bot}, "reason": {strings.Repeat("é", 513)}}} {
		manager.post(address, form).want(422, "Nothing was changed", `aria-invalid="true"`, "Everybody is on")
	}
	manager.post(address, url.Values{"hidden": {"yes"}, "user": {" " + first + " "}, "reason": {"staff"}}).want(200, "Hidden from the leaderboard.", "500 XP", "hidden by a manager")
	manager.post(address, url.Values{"hidden": {"yes"}, "user": {bot}}).want(200, bot, "No XP yet")
	if _, err := w.deps.Hiding.Set(t.Context(), public, hiding.Step{By: 2, Hidden: true, Users: []id.User{"600000000000000002"}}); err != nil {
		t.Fatal(err)
	}
	manager.get(address).want(200, "hidden by themselves", "Only they can change it")
	manager.get(address+"?q=%3Cb%3Emem").want(200, "500 XP").lacks(bot)
	manager.get(address+"?q="+bot).want(200, bot).lacks("500 XP")
	manager.get(address+"?q=nobody").want(200, "No hidden member has this name")
	manager.get(address+"?q=%01").want(422, `id="q-error"`)
	manager.get(address+"?page=2").want(200, "No more members", "Previous")
	manager.post(address, url.Values{"hidden": {"no"}, "user": {first}, "reason": {strings.Repeat("é", 513)}}).want(422, `id="reason-`+first+`-error"`, "<details open>")
	manager.post(address, url.Values{"hidden": {"no"}, "user": {first}, "reason": {"left the staff"}}).want(200, "On the leaderboard again.", bot).lacks("500 XP")
	var many []id.User
	for i := range hiding.PageSize {
		many = append(many, memberID(i))
	}
	if _, err := w.deps.Hiding.Set(t.Context(), public, hiding.Step{By: 1, Hidden: true, Users: many}); err != nil {
		t.Fatal(err)
	}
	manager.get(address).want(200, `href="`+address+`?page=2"`)
	manager.get(address+"?page=2").want(200, bot).lacks("page=3")
}
