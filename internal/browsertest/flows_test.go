package browsertest

import (
	"fmt"
	"strings"
	"testing"
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
			t.Errorf("%s: the card says %q", theme, text)
		}
		b.shoot("card-" + theme)
	}
}
