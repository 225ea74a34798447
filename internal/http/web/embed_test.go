package web_test

import (
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
)

func TestOtherSitesMayEmbedTheTopOfABoard(t *testing.T) {
	s := newSite(t, options{})
	s.counting()
	s.fill(members(40))
	s.gain(3, 700)
	b := s.browser()
	embedding := func(on bool, visibility guild.Visibility) {
		s.guilds.change(public, func(g *guild.Guild) { g.Embedding, g.Visibility = on, visibility })
	}
	b.get("/embed/gophers").want(404, "no leaderboard to embed", "noindex").lacks("Gophers")
	embedding(true, guild.Public)
	got := b.get("/embed/GOPHERS?top=3&theme=transparent").want(200, `class="embed embed--transparent"`, `data-top="3"`, `data-live="/leaderboard/gophers/live?page=1"`,
		`<base target="_blank">`, "Rank </i>3<").lacks("Rank </i>4<")
	if found := inline.FindString(got.text); found != "" {
		t.Errorf("the page has %q, which its policy blocks", found)
	}
	if framed := strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors *", 1); got.header.Get("Content-Security-Policy") != framed || got.header.Get("X-Frame-Options") != "" {
		t.Errorf("the embed's headers are %v, want that any site may frame it", got.header)
	}
	b.get("/embed/gophers").want(200, "Rank </i>10<", `class="embed"`).lacks("Rank </i>11<")
	b.get("/embed/"+string(public)+"?top=25&period=week&theme=dark").want(200, "+700 <i>XP", "Week of ", `rows?period=20`, `data-live="/leaderboard/gophers/live?period=20`).lacks("Rank </i>2<")
	for query, status := range map[string]int{
		"?top=0": 400, "?top=26": 400, "?top=": 400, "?top=x": 400, "?top=+5": 400, "?top=05": 400, "?top=1&top=1": 400, "?theme=": 400, "?theme=Dark": 400, "?theme=dark&theme=dark": 400,
		"?period=": 400, "?period=nonsense": 400, "?period=month": 404, "?period=2026-W54": 400, "?a=%zz": 400, "/x": 404, "?other=1": 200,
	} {
		if got := b.still().get("/embed/gophers" + query); got.status != status || strings.Contains(got.header.Get("Content-Security-Policy"), "frame-ancestors *") != (status == 200) {
			t.Errorf("%s: status %d, want %d, and a frame only with 200; %v", query, got.status, status, got.header)
		}
	}
	for _, address := range []string{"/embed/nobody", "/embed/a%2Fb", "/embed/" + string(closed), "/embed"} {
		b.get(address).want(404).lacks("Moles")
	}
	b.get("/embed/nobody?top=0").want(400)
	embedding(true, guild.Private)
	b.get("/embed/gophers").want(404).lacks("Gophers")
	b.signIn()
	b.get("/embed/gophers").want(404)
	embedding(true, guild.Public)
	s.guilds.change(public, func(g *guild.Guild) { g.Enabled = false })
	b.get("/embed/gophers").want(404)
}
