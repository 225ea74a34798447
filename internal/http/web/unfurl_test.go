package web_test

import (
	"bytes"
	"encoding/json"
	"image/png"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/http/card"
	"levelboard/internal/store/redisstore"
)

func TestPublicPagesHaveUnfurls(t *testing.T) {
	s := newSite(t, options{})
	s.counting()
	s.fill(members(150))
	s.gain(1, 500)
	b := s.browser()
	b.signIn()
	for path, want := range map[string][]string{
		"/": {"<title>Levels for your community · Levelboard</title>", `canonical" href="` + s.url + `/"`, `content="summary"`},
		"/leaderboard/GOPHERS": {
			"<title>Gophers leaderboard · Levelboard</title>", `canonical" href="` + s.url + `/leaderboard/gophers"`, `og:title" content="Gophers leaderboard"`,
			`description" content="Gophers leaderboard, 150 members. 1. Member number 1 (level 317), 2. Member number 0`,
			`og:image" content="` + s.url + `/leaderboard/gophers/preview.png"`, `og:image:width" content="1200"`, `twitter:card" content="summary_large_image"`,
			`twitter:image" content="` + s.url + `/leaderboard/gophers/preview.png"`,
		},
		"/leaderboard/gophers?page=2":             {"<title>Gophers leaderboard, page 2 ·", `href="` + s.url + `/leaderboard/gophers?page=2"`, "101. Member number 100"},
		"/leaderboard/gophers?period=season":      {"<title>Gophers leaderboard, &lt;b&gt;Cup ·", `canonical" href="` + s.url + `/leaderboard/gophers?period=season-cup"`, "1 member. 1. Member number 1"},
		"/leaderboard/gophers/periods":            {"<title>Winners of Gophers ·", "preview.png"},
		"/leaderboard/gophers/levels":             {"<title>Levels of Gophers ·", "preview.png"},
		"/leaderboard/200000000000000001/periods": {`canonical" href="` + s.url + `/leaderboard/gophers/periods"`},
		memberPath(1): {
			"<title>Member number 1 in Gophers ·", `content="Member number 1 is rank 1 of 150 in Gophers: level 317 with 5,000,499 XP."`,
			`og:image" content="` + s.url + `/v2/levels/200000000000000001/users/300000000000000001/card.png"`, `og:image:height" content="432"`,
		},
	} {
		b.get(path).want(200, want...).want(200, `rel="manifest"`, "apple-touch-icon").lacks("noindex")
	}
}

func TestPrivatePagesHaveNoUnfurls(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(2))
	s.provider.SetUser(map[string]any{"id": ada, "username": "ada", "global_name": "Ada L."}, []any{
		map[string]any{"id": string(public), "name": "Gophers", "owner": true}, map[string]any{"id": string(closed), "name": "Moles", "permissions": "0"},
	})
	b := s.browser()
	b.signIn()
	for path, status := range map[string]int{
		"/leaderboard/" + string(closed): 200, "/leaderboard/gophers?page=0": 400, "/leaderboard/gophers?rank=x": 400, "/leaderboard/nobody": 404, memberPath(9): 404, "/nowhere": 404,
		"/guilds/" + string(public) + "/settings": 200, "/profile": 200, "/leaderboard/gophers/search?q=" + "Memb": 200,
	} {
		b.get(path).want(status, `<meta name="robots" content="noindex">`).lacks("og:", "twitter:", "canonical", `name="description"`)
	}
	b.post(memberPath(1)+"/xp", nil).want(422, "noindex").lacks("og:")
}

func TestABoardsPreviewFollowsTheBoard(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(5))
	b := s.browser()
	const path = "/leaderboard/gophers/preview.png"
	got := b.get(path, "Accept-Encoding", "gzip").want(200)
	picture, err := png.Decode(bytes.NewReader([]byte(got.text)))
	if err != nil || picture.Bounds().Dx() != 1200 || picture.Bounds().Dy() != 630 || got.header.Get("Content-Type") != "image/png" || got.header.Get("Content-Encoding") != "" {
		t.Fatalf("the preview has the headers %v (%v), want a PNG of 1200 by 630", got.header, err)
	}
	etag := got.header.Get("ETag")
	if b.get(path, "If-None-Match", etag).want(304).text != "" || b.get(path).want(200).text != got.text {
		t.Error("an unchanged board has another preview or ETag")
	}
	s.setXP(4, 4) // a rank that the picture does not show
	b.get(path, "If-None-Match", etag).want(304)
	s.setXP(4, 6_000_000)
	if changed := b.get(path, "If-None-Match", etag).want(200); changed.header.Get("ETag") == etag || changed.text == got.text {
		t.Error("a new first member did not change the preview or its ETag")
	}
	for address, status := range map[string]int{
		"/leaderboard/nobody/preview.png": 404, "/leaderboard/" + string(closed) + "/preview.png": 401, path + "?a=1&a=2": 400, "/leaderboard/gophers/preview.svg": 404,
		path + "?period=x": 400, path + "?period=week": 404,
	} {
		b.get(address).want(status).lacks("PNG")
	}
	s.guilds.change(public, func(g *guild.Guild) { g.Enabled = false })
	b.get(path).want(404)
}

func TestAPreviewsETagDependsOnTheFonts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the test's fonts are those of Linux")
	}
	fonts, err := card.OpenFonts("/usr/share/fonts", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, f := range []*card.Fonts{nil, nil, fonts} {
		s := newSite(t, options{with: func(s *site, _ *redisstore.Store) { s.deps.Fonts = f }})
		s.fill(members(5))
		tags = append(tags, s.browser().get("/leaderboard/gophers/preview.png").want(200).header.Get("ETag"))
	}
	if tags[0] != tags[1] || tags[0] == tags[2] {
		t.Errorf("twice without fonts and once with fonts the ETags are %q, want only the last one different", tags)
	}
}

func TestRobotsAndTheManifest(t *testing.T) {
	s := newSite(t, options{limit: 1})
	b := s.browser()
	if got := b.get("/robots.txt").want(200, "User-agent: *\n", "Disallow: /guilds/\n"); !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("robots.txt has the headers %v, want text/plain", got.header)
	}
	got := b.get("/site.webmanifest").want(200)
	var manifest struct {
		Name  string
		Icons []struct{ Src, Type string }
	}
	if err := json.Unmarshal([]byte(got.text), &manifest); err != nil || manifest.Name != "Levelboard" || got.header.Get("Content-Type") != "application/manifest+json" {
		t.Errorf("the manifest is %+v (%v) with %v, want Levelboard's", manifest, err, got.header)
	}
	for _, icon := range manifest.Icons {
		if got := b.get(icon.Src).want(200).header.Get("Content-Type"); got != icon.Type {
			t.Errorf("the icon %s is %s, want %s", icon.Src, got, icon.Type)
		}
	}
}
