package web_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"levelboard/internal/http/web"
)

// A walk through all pages, from the router's own list: none shows who is hidden to a visitor.
func TestNoPageShowsWhoIsHidden(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	manager, visitor := s.browser(), s.browser()
	manager.signIn()
	manager.post(memberPath(1)+"/hidden", url.Values{"hidden": {"yes"}}).want(200, "Hidden member")
	pages, err := web.New(s.deps)
	if err != nil {
		t.Fatal(err)
	}
	engine := gin.New()
	pages.Routes(engine)
	walked := 0
	for _, route := range engine.Routes() {
		if route.Method != "GET" || strings.HasSuffix(route.Path, "/rows") || strings.HasPrefix(route.Path, "/sign-") || strings.HasPrefix(route.Path, "/static") {
			continue
		}
		for _, member := range []string{string(memberID(2))} {
			path := strings.NewReplacer(":entry", "gophers", ":guildId", string(public), ":userId", member, ":key", "k", ":user", member).Replace(route.Path)
			for _, query := range []string{"", "?q=member", "?top=3"} {
				got := visitor.get(path + query)
				if name := "Member number 1<"; got.status == 200 && (strings.Contains(got.text, string(memberID(1))) || strings.Contains(got.text, name)) {
					t.Errorf("GET %s shows who is hidden", path+query)
				}
				walked++
			}
		}
	}
	if walked < 20 {
		t.Errorf("only %d pages were looked at", walked)
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
