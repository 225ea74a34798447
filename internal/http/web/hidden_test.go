package web_test

import (
	"net/url"
	"testing"
)

// The pages of a board show nobody who is hidden to a visitor.
func TestPagesDoNotShowWhoIsHidden(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	manager, visitor := s.browser(), s.browser()
	manager.signIn()
	manager.post(memberPath(1)+"/hidden", url.Values{"hidden": {"yes"}}).want(200, "Hidden member")
	for _, path := range []string{"", "?member=" + string(memberID(2)), "/search?q=member", "/members/" + string(memberID(2))} {
		visitor.get("/leaderboard/gophers" + path).want(200).lacks(string(memberID(1)))
	}
	visitor.get(memberPath(1)).want(404)
	visitor.get(memberPath(1) + "/standing").want(404)
	manager.get(memberPath(1)).want(200, "by a manager", "Show on the leaderboard")
}

func TestSomebodyHidesThemselvesAtTheProfile(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	b := s.browser()
	b.signIn()
	b.post("/leaderboard/gophers/members/"+ada+"/hidden", url.Values{"hidden": {"yes"}})
	b.get("/profile").want(200, "Hide me from the leaderboard", "also hidden by a manager", "Hide me<")
	b.post("/profile/hidden", url.Values{"hidden": {"yes"}, "guild": {string(public)}}).want(200, "You are hidden from the leaderboard.", "Show me<")
	b.post("/profile/hidden", url.Values{"hidden": {"no"}}).want(200, "You are on the leaderboard again.", "Hide me<")
	s.browser().post("/profile/hidden", url.Values{"hidden": {"yes"}}).want(401)
}
