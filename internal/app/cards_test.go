package app_test

import (
	"bytes"
	"image/png"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

var cardCases = cases{
	"another member's XP changes no card":    nothingElseChangesCards,
	"themes":                                 cardThemes,
	"a card shows name, level and rank":      cardShows,
	"a PNG at twice the size":                cardPNG,
	"no member or guild is 404":              cardOfNobody,
	"a change of member or guild changes it": cardsChange,
	"a name of any script is drawn":          cardOfAnyScript,
}

// fontDir holds the fonts that scripts/setup installs on Linux; it is empty elsewhere.
var fontDir = map[bool]string{true: "/usr/share/fonts"}[runtime.GOOS == "linux"]

func TestAFolderOfFontsMustExist(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	err := newApp(t, append(onDataDir(t), "LEVELBOARD_FONT_DIR="+missing)...).Start(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "LEVELBOARD_FONT_DIR: the folder "+missing+" does not exist") {
		t.Errorf("the start says %v, want that the folder %s does not exist", err, missing)
	}
}

func cardOfAnyScript(t *testing.T, s *service) {
	if fontDir == "" {
		t.Skip("no folder of fonts on this system")
	}
	g, u := s.guild(nil), newID()
	key := s.key(g)
	cards, previews := map[string]bool{}, map[string]bool{}
	for _, global := range []any{nil, "مريم"} {
		s.named(key, g, u, 5, "ada", global)
		cards[string(s.Do("GET", cardPath(g, u, "card.png"), "", nil).Want(t, 200).Body)] = true
		_, preview := visit(t, newBrowser(t), "GET", s.app.URL()+"/leaderboard/"+g+"/preview.png", "")
		previews[preview] = true
		s.Do("DELETE", memberPath(g, u), key, nil).Want(t, 204)
	}
	if len(cards) != 2 || len(previews) != 2 {
		t.Errorf("with and without an Arabic name there are %d cards and %d previews, want 2 of each", len(cards), len(previews))
	}
}

// formats are the file names of a card.
var formats = []string{"card.svg", "card.png"}

func cardPath(g, u, file string) string { return memberPath(g, u) + "/" + file }

// named creates a member with a username and a global name, which may be nil.
func (s *service) named(key, g, u string, xp int, username string, global any) {
	s.t.Helper()
	user := object{"avatar": nil, "discriminator": "0", "username": username, "globalName": global}
	s.Do("POST", memberPath(g, u), key, object{"xp": xp, "user": user}).Want(s.t, 200)
}

func wantTexts(t *testing.T, svg string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(svg, ">"+text+"</text>") {
			t.Errorf("the card does not say %q:\n%s", text, svg)
		}
	}
}

func cardShows(t *testing.T, s *service) {
	g, u := s.guild(object{"name": `Gophers & "friends" <3`}), newID()
	key := s.key(g)
	s.named(key, g, newID(), 9000, "first", nil)
	s.named(key, g, u, 4200, "ada", "Ada <b>L.</b>")
	got := s.Do("GET", cardPath(g, u, "card.svg"), "", nil).Want(t, 200)
	wantHeader(t, got, "Content-Type", "image/svg+xml")
	wantHeader(t, got, "Cache-Control", "public, no-cache")
	wantHeader(t, got, "Vary", "Origin, X-Api-Key")
	wantHeader(t, got, "X-Content-Type-Options", "nosniff")
	wantHeader(t, got, "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	wantLimits(t, got)
	wantTexts(t, string(got.Body), "Ada &lt;b&gt;L.&lt;/b&gt;", "Gophers &amp; &#34;friends&#34; &lt;3", "#2", "10", "4,200 XP", "900 XP to level 11", "0 messages")
	with := s.Do("GET", cardPath(g, u, "card.svg"), key, nil).Want(t, 200)
	wantHeader(t, with, "Cache-Control", "private, no-cache")
}

func cardPNG(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	s.create(s.key(g), g, u, 5)
	got := s.Do("GET", cardPath(g, u, "card.png"), "", nil).Want(t, 200)
	wantHeader(t, got, "Content-Type", "image/png")
	wantLimits(t, got)
	size, err := png.DecodeConfig(bytes.NewReader(got.Body))
	if err != nil || size.Width != 1440 || size.Height != 432 {
		t.Errorf("the PNG is %d by %d (%v), want 1440 by 432", size.Width, size.Height, err)
	}
	again := s.Do("GET", cardPath(g, u, "card.png"), "", nil).Want(t, 200)
	if !bytes.Equal(again.Body, got.Body) {
		t.Error("the same card is drawn differently the second time, want the same bytes")
	}
	wantNoBody(t, s.Do("HEAD", cardPath(g, u, "card.png"), "", nil).Want(t, 200))
}

func cardOfNobody(t *testing.T, s *service) {
	g, off, u := s.guild(nil), s.guild(nil), newID()
	key := s.key(g, off)
	s.create(key, g, u, 5)
	s.create(key, off, u, 5)
	s.admin("PUT", "/guilds/"+off, settings(object{"enabled": false})).Want(t, 200)
	for _, file := range formats {
		for _, path := range []string{cardPath(g, newID(), file), cardPath(off, u, file), cardPath(newID(), u, file), memberPath(g, u) + "/card.gif"} {
			for _, k := range []string{"", key} {
				got := s.Do("GET", path, k, nil).Want(t, 404)
				wantLimits(t, got)
				got.Message(t)
			}
		}
	}
}

func cardsChange(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 50)
	for _, file := range formats {
		seen := ""
		changed := func(by string) {
			t.Helper()
			now := s.Do("GET", cardPath(g, u, file), "", nil, apitest.Header("If-None-Match", seen)).Want(t, 200)
			seen = now.Header.Get("ETag")
			again := s.Do("GET", cardPath(g, u, file), "", nil, apitest.Header("If-None-Match", seen)).Want(t, 304)
			wantNoBody(t, again)
			wantHeader(t, again, "ETag", seen)
		}
		changed("nothing yet")
		s.patch(key, g, u, object{"increment": 5})
		changed("XP")
		other := newID()
		s.create(key, g, other, 100000)
		changed("a better member")
		s.Do("DELETE", memberPath(g, other), key, nil).Want(t, 204)
		changed("a better member that is gone")
		s.admin("PUT", "/guilds/"+g, settings(object{"name": "Renamed " + file})).Want(t, 200)
		changed("the guild's name")
		s.admin("PUT", "/guilds/"+g, settings(object{"name": "Renamed " + file, "curve": "amari"})).Want(t, 200)
		changed("the curve")
		s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 200)
	}
}

func cardThemes(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	s.create(s.key(g), g, u, 5)
	for _, file := range formats {
		light, dark := s.Do("GET", cardPath(g, u, file)+"?theme=light", "", nil).Want(t, 200), s.Do("GET", cardPath(g, u, file)+"?theme=dark", "", nil).Want(t, 200)
		if bytes.Equal(light.Body, dark.Body) || light.Header.Get("ETag") == dark.Header.Get("ETag") {
			t.Errorf("%s has the same bytes or the same ETag in light and in dark", file)
		}
	}
	if !strings.Contains(string(s.Do("GET", cardPath(g, u, "card.svg"), "", nil).Want(t, 200).Body), "prefers-color-scheme") {
		t.Error("an SVG without a theme lacks prefers-color-scheme")
	}
}

func nothingElseChangesCards(t *testing.T, s *service) {
	g, u, below := s.guild(nil), newID(), newID()
	key := s.key(g)
	s.create(key, g, u, 5000)
	s.create(key, g, below, 5)
	for _, file := range formats {
		before := s.Do("GET", cardPath(g, u, file), "", nil).Want(t, 200)
		s.patch(key, g, below, object{"increment": 5})
		s.Do("GET", cardPath(g, u, file), "", nil, apitest.Header("If-None-Match", before.Header.Get("ETag"))).Want(t, 304)
		after := s.Do("GET", cardPath(g, u, file), "", nil).Want(t, 200)
		if !bytes.Equal(before.Body, after.Body) {
			t.Errorf("%s changed with another member's XP, want the same bytes", file)
		}
	}
}
