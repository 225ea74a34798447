package web_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"levelboard/internal/http/card"
)

// A letter in place of a picture has the colour of the member's card.
func TestLettersHaveTheColoursOfCards(t *testing.T) {
	style, err := os.ReadFile("static/app.css")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for i := range 300 {
		number, colour := card.Hue(fmt.Sprintf("3%017d", i))
		if rule := fmt.Sprintf(".picture--%d { background: %s; }", number, colour); !strings.Contains(string(style), rule) {
			t.Fatalf("app.css lacks %q", rule)
		}
		seen[number] = true
	}
	if len(seen) < 12 {
		t.Errorf("app.css has %d colours, want at least 12", len(seen))
	}
	s := newSite(t, options{})
	s.fill(members(1))
	number, _ := card.Hue(string(memberID(0)))
	class := fmt.Sprintf("picture picture--%d\"", number)
	b := s.browser()
	b.get("/leaderboard/gophers").want(200, class)
	b.get(memberPath(0)).want(200, class)
}
