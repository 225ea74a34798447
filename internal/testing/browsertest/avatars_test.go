package browsertest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// withAvatar creates a member with an avatar. The test's browser reaches no host that serves avatars.
func (s *site) withAvatar(key, g string, xp int) string {
	s.t.Helper()
	u := newID()
	user := object{"avatar": strings.Repeat("ab", 16), "discriminator": "0", "username": "gopher"}
	s.Do("POST", "/v2/levels/"+g+"/users/"+u, key, object{"xp": xp, "user": user}).Want(s.t, 200)
	return u
}

func TestAFailedPictureIsReplacedByItsLetter(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(nil)
	key := s.key(g)
	var users []string
	for i := range 90 {
		users = append(users, s.withAvatar(key, g, 1000-i))
	}
	b := s.tab(t)
	b.open("/leaderboard/" + g)
	image := func(user string) string { return fmt.Sprintf("document.querySelector('#m%s .picture img')", user) }
	b.until(image(users[0]) + " === null")
	if letter := eval[string](b, "document.querySelector('#board .picture').innerText"); letter != "G" {
		t.Errorf("the failed picture is replaced by %q, want G", letter)
	}
	if !eval[bool](b, image(users[89])+" !== null") {
		t.Error("a picture that was not loaded yet is gone")
	}
	// It is also removed from a row that comes later, and does not come back with one that changes.
	top := s.withAvatar(key, g, 4000)
	b.until(fmt.Sprintf("document.querySelector('#board > li').id === 'm%s' && %s === null", top, image(top)))
	b.do(chromedp.Evaluate[chromedp.Void](`window.back = 0; new MutationObserver((all) => {
		for (const { addedNodes } of all) for (const node of addedNodes) if (node.nodeName === "IMG") window.back++;
	}).observe(document.getElementById("board"), { childList: true, subtree: true })`))
	s.Do("PATCH", "/v2/levels/"+g+"/users/"+users[0], key, object{"xp": 5000}).Want(t, 200)
	b.until(fmt.Sprintf("document.querySelector('#board > li').id === 'm%s'", users[0]))
	if back := eval[int](b, "window.back"); back != 0 {
		t.Errorf("the failed picture came back %d times, want 0", back)
	}
}

// A picture may fail before the script listens.
func TestAPictureThatFailsEarlyIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(nil)
	s.withAvatar(s.key(g), g, 1000)
	b := s.tab(t)
	b.withoutScript()
	b.open("/leaderboard/" + g)
	b.until("document.querySelector('#board img').complete")
	answer, err := http.Get(b.base + eval[string](b, "document.querySelector('script').getAttribute('src')"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	script, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Evaluate[chromedp.Void](string(script)))
	b.until("document.querySelector('#board .picture') && !document.querySelector('#board img')")
}

func TestEveryLevelFitsItsRing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.guild(object{"curve": []int{0, 1}})
	key := s.key(g)
	levels := []int{10000, 9999, 1000, 999, 88, 0}
	for _, level := range levels {
		s.member(key, g, "gopher", level)
	}
	b := s.tab(t)
	b.open("/leaderboard/" + g)
	// The distance of the digits' corners from the middle. The ring's inside has 19 px.
	reach := eval[[]float64](b, `[...document.querySelectorAll(".board .ring__level")].map((level) => {
		const text = document.createRange();
		text.selectNode(level.lastChild);
		return Math.hypot(text.getBoundingClientRect().width / 2, 0.37 * parseFloat(getComputedStyle(level).fontSize));
	})`)
	if len(reach) != len(levels) {
		t.Fatalf("the board has %d rings, want %d", len(reach), len(levels))
	}
	for i, far := range reach {
		if far > 19 {
			t.Errorf("the digits of level %d reach %.1f px from the middle, want at most 19", levels[i], far)
		}
	}
	b.shoot("rings")
}
