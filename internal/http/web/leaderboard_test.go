package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// memberID returns the id of member i.
func memberID(i int) id.User { return id.User(fmt.Sprintf("3%017d", i)) }

// memberPath returns the address of member i's page.
func memberPath(i int) string { return "/leaderboard/gophers/members/" + string(memberID(i)) }

func TestAnEmptyBoardSaysWhatToDo(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.get("/leaderboard/gophers").want(200, "No one is ranked yet", `id="empty">`, `<span id="total">0</span>`).lacks("rel=\"next\"")
	b.get("/leaderboard/gophers?page=2").want(200, "Only 1 page. Showing the last page.")
	b.get("/leaderboard/gophers?rank=9").want(200, "No one is ranked yet")
	b.get("/leaderboard/gophers/search?q=ada").want(200, "No members found")
}

func TestTheBoardWorksWithoutScript(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(250))
	b := s.browser()
	first := b.get("/leaderboard/GOPHERS").want(200, "rank--gold", "rank--silver", "rank--bronze", "4,999,999 XP ·", ">4.99M <i>XP",
		`rel="next" href="/leaderboard/gophers?page=2"`, `href="/leaderboard/gophers?page=3">Last`, "5,000 members", `<span id="total">250</span>`,
		"/v2/levels/"+string(public)+"?page=1", "123,456", "XP to next level", `id="empty" hidden`)
	if n := strings.Count(first.text, "<details><summary>"); n != 100 {
		t.Errorf("the first page has %d rows, want 100", n)
	}
	first.lacks(`rel="prev"`)
	last := b.get("/leaderboard/gophers?page=3").want(200, `rel="prev" href="/leaderboard/gophers?page=2"`, "Rank </i>250<").lacks(`rel="next"`)
	if n := strings.Count(last.text, "<details><summary>"); n != 50 {
		t.Errorf("the last page has %d rows, want 50", n)
	}
	b.get("/leaderboard/gophers?page=99999999999").want(200, "Showing the last page", "Rank </i>250<")
	if got := b.get("/leaderboard?entry=+gophers+").want(200, "Gophers"); got.path != "/leaderboard/gophers" {
		t.Errorf("the form led to %s, want /leaderboard/gophers", got.path)
	}
	if got := b.send(http.MethodHead, "/leaderboard/gophers", nil).want(200); got.text != "" {
		t.Error("an answer to HEAD has a body")
	}
}

func TestAnUnknownBoardSaysWhatToDo(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.get("/leaderboard/nobody").want(404, "No community has this name or ID", `value="nobody"`, `action="/leaderboard"`)
	s.guilds[public].Enabled = false
	for _, path := range []string{"", "/search?q=ada", "/rows", "/live", "/members/" + ada} {
		b.get("/leaderboard/gophers"+path).want(404, "Leveling is disabled").lacks("/settings", "Gophers")
	}
	b.get("/sign-in/provider?next=/")
	b.get("/leaderboard/gophers").want(404, "Leveling is disabled", "/guilds/"+string(public)+"/settings")
}

func TestAPrivateBoardShowsNothingToOthers(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	member := "/members/" + string(memberID(1))
	for _, path := range []string{"", "?member=me", "?rank=1", "/search?q=ada", "/rows", "/live", member} {
		b.get("/leaderboard/"+string(closed)+path).want(401, "/sign-in?next=").lacks("Moles")
	}
	b.post("/leaderboard/"+string(closed)+member+"/xp", nil).want(401)
	b.signIn()
	b.get("/leaderboard/" + string(closed)).want(403).lacks("Moles")
	s.provider.SetUser(map[string]any{"id": ada, "username": "ada"}, []any{map[string]any{"id": string(closed), "name": "Moles", "permissions": "0"}})
	in := s.browser()
	got := in.get("/sign-in/provider?next=/leaderboard/"+string(closed)).want(200, "Moles", "Private").lacks("You manage this")
	if got.header.Get("Cache-Control") != "no-store" || got.header.Get("ETag") == "" {
		t.Errorf("the headers of a private board are %v, want no-store and an ETag", got.header)
	}
	in.post("/leaderboard/"+string(closed)+member+"/xp", nil).want(403)
	if _, err := s.board.Create(t.Context(), s.guilds.get(closed), memberID(1), leaderboard.Creation{XP: 77}); err != nil {
		t.Fatal(err)
	}
	// The session's cookie also opens the card.
	in.get("/leaderboard/"+string(closed)+member).want(200, "/v2/levels/"+string(closed)+"/users/"+string(memberID(1))+"/card.svg")
}

func TestAnUnchangedPageIs304(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	b := s.browser()
	for _, path := range []string{"/leaderboard/gophers", "/leaderboard/gophers/rows"} {
		etag := b.get(path).want(200).header.Get("ETag")
		if got := b.get(path, "If-None-Match", `"x", W/`+etag).want(304); got.text != "" || got.header.Get("ETag") != "W/"+etag || got.header.Get("Content-Security-Policy") != policy {
			t.Errorf("the 304 of %s has the headers %v and the body %q, want the ETag and the policy only", path, got.header, got.text)
		}
		b.get(path, "If-None-Match", "*").want(304)
		s.setXP(2, 7)
		changed := b.get(path, "If-None-Match", etag).want(200).header.Get("ETag")
		s.guilds[public].Version++
		s.guilds[public].Name = "Others"
		if b.get(path, "If-None-Match", changed).want(200).header.Get("ETag") == changed {
			t.Errorf("%s: new settings did not change the ETag", path)
		}
		s.setXP(2, 8)
	}
}

// setXP sets the XP of member i.
func (s *site) setXP(i int, xp level.XP) {
	s.t.Helper()
	if _, err := s.board.Change(s.t.Context(), s.guilds[public], memberID(i), leaderboard.Change{Op: leaderboard.Set, Amount: xp}); err != nil {
		s.t.Fatal(err)
	}
}

func TestTheBoardJumpsToARankOrMember(t *testing.T) {
	s := newSite(t, options{})
	rows := members(250)
	rows[149].UserID = ada
	s.fill(rows)
	b := s.browser().still()
	for path, want := range map[string]string{
		"?rank=1":                            "?page=1#m" + string(memberID(0)),
		"?rank=101":                          "?page=2#m" + string(memberID(100)),
		"?rank=250":                          "?page=3#m" + string(memberID(249)),
		"?rank=251":                          "?page=3&past=rank",
		"?rank=9223372036854775807":          "?page=3&past=rank",
		"?member=" + string(memberID(200)):   "?page=3#m" + string(memberID(200)),
		"/search?q=" + string(memberID(200)): "?page=3#m" + string(memberID(200)),
		"/search?q=+" + string(memberID(200)) + "+": "?page=3#m" + string(memberID(200)),
	} {
		if got := b.get("/leaderboard/gophers" + path).want(303).header.Get("Location"); got != "/leaderboard/gophers"+want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
	b.get("/leaderboard/gophers?page=3&past=rank").want(200, "Only 250 ranks. Showing the last page.")
	b.get("/leaderboard/gophers?page=4").want(200, "Only 3 pages. Showing the last page.")
	for _, path := range []string{"?page=3", "?page=2&past=rank", "?page=3&past=x"} {
		b.get("/leaderboard/gophers" + path).want(200).lacks("Showing the last page")
	}
	for path, status := range map[string]int{"?rank=0": 400, "?rank=x": 400, "?member=x": 400, "?member=" + string(closed): 404, "?member=me": 401} {
		b.get("/leaderboard/gophers" + path).want(status)
	}
	b.get("/leaderboard/gophers?member=me").want(401, "/sign-in?next=%2fleaderboard%2fgophers%3fmember%3dme")
	in := s.browser()
	in.signIn().want(200, `id="own"><li id=own`+ada, "Rank </i>150<", "/leaderboard/gophers/members/"+ada)
	if got := in.still().get("/leaderboard/gophers?member=me").want(303).header.Get("Location"); got != "/leaderboard/gophers?page=2#m"+ada {
		t.Errorf("\"me\" leads to %s, want my row on page 2", got)
	}
}

func TestAVisitorOffTheBoardIsToldSo(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(1))
	b := s.browser()
	b.signIn().lacks(`id="own"`)
	b.get("/leaderboard/gophers?member=me").want(404, "not ranked yet", `id="board"`, "Rank </i>1<")
	b.get("/leaderboard/gophers?member=300000000000009999").want(404, "ranked yet", "Rank </i>1<")
	b.get("/leaderboard/gophers?member=ada").want(400, "The member ID", "Rank </i>1<")
	for _, rank := range []string{"0", "-1", "1.5", "x\"><i>"} {
		b.get("/leaderboard/gophers?rank="+url.QueryEscape(rank)).want(400, "The rank must be a whole number from 1.", "Rank </i>1<",
			`value="`+html.EscapeString(rank)+`" aria-invalid="true"`)
	}
	b.get("/leaderboard/gophers/members/"+ada).want(404, "ranked yet")
	b.get("/leaderboard/gophers/members/ada").want(404)
}

func TestMembersAreSearchedByName(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(120))
	b := s.browser()
	b.get("/leaderboard/gophers/search?q=+").want(422, "Search for the beginning of a name", `aria-invalid="true"`)
	b.get("/leaderboard/gophers/search?q="+url.QueryEscape(strings.Repeat("a", 65))).want(422, "at most 64 characters")
	b.get("/leaderboard/gophers/search?q="+url.QueryEscape(strings.Repeat("é", 64))).want(200, "No members found.")
	b.get("/leaderboard/gophers/search?q=%C3%A9").want(200, "No members found.").lacks("minlength")
	b.get("/leaderboard/gophers/search?q="+url.QueryEscape(`"><script>`)).want(200, "&#34;&gt;&lt;script&gt;").lacks("<script>\"")
}

func TestTheRulesAreShownInWords(t *testing.T) {
	s := newSite(t, options{})
	g := s.guilds[public]
	g.XPGainInterval, g.XPPerMessageMin, g.XPPerMessageMax, g.XPGlobalMultiplier = 90_000, 5, 5, 1.5
	g.IgnoredChannelIDs, g.IgnoredRoleIDs = []id.Channel{"1", "2"}, []id.Role{"3"}
	g.Multipliers = []guild.Multiplier{
		{Type: guild.ChannelMultiplier, Multiplier: 2, Channels: []guild.Channel{{Name: "help"}, {Name: "<b>code"}}},
		{Type: guild.RoleMultiplier, Multiplier: 0.5, Roles: []guild.Role{{Name: "Muted"}}},
	}
	many := guild.RoleReward{Level: 5, Stack: true}
	for i := range 30 {
		many.Roles = append(many.Roles, guild.Role{ID: id.Role(fmt.Sprint(i)), Name: fmt.Sprint("Role ", i)})
	}
	g.RoleRewards = []guild.RoleReward{many, {Level: 20, Roles: []guild.Role{{ID: "99", Name: strings.Repeat("long", 20)}}}}
	s.browser().get("/leaderboard/gophers").want(200, "Each message earns 5 XP. Cooldown: 90 seconds.", "Global multiplier: ×1.5.", "Messages in 2 ignored channels earn no XP.",
		"Members with an ignored role earn no XP.", "Level 10: 4,150 XP", "×2</span> in <bdi>#help</bdi>, <bdi>#&lt;b&gt;code</bdi>", "×0.5</span> for <bdi>Muted",
		"Level 5</span> <bdi>Role 0", "and 24 more", "until the next", strings.Repeat("long", 11)+"lon…")
}

func TestRulesWithoutEffectAreLeftOut(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(1))
	s.setXP(0, 0)
	g := s.guilds[public]
	g.RoleRewards = []guild.RoleReward{{Level: 5}}
	g.Multipliers = []guild.Multiplier{{Type: guild.ChannelMultiplier, Multiplier: 2}, {Type: guild.RoleMultiplier, Multiplier: 3}}
	b := s.browser()
	b.get("/leaderboard/gophers").want(200).lacks("Level 5<", "Rewards", "×2", "×3", "Multipliers", "of your roles, the highest applies")
	b.get(memberPath(0)).want(200).lacks("at level 5")
	g.Version++
	for n := range level.Level(26) {
		g.RoleRewards = append(g.RoleRewards, guild.RoleReward{Level: 6 + n, Roles: []guild.Role{{ID: "1", Name: "Regular"}}})
	}
	g.Multipliers = append(g.Multipliers, guild.Multiplier{Type: guild.RoleMultiplier, Multiplier: 4, Roles: []guild.Role{{ID: "1", Name: "Regular"}}})
	b.get("/leaderboard/gophers").want(200, "Level 6", "Level 30", "and 1 more", "×4</span> for <bdi>Regular", "of your roles, the highest applies").lacks("Level 5<", "Level 31", "×2", "×3")
	b.get(memberPath(0)).want(200, "Level 6</span> <bdi>Regular</bdi> <span class=\"muted\">next, in ")
}

func TestAnUnreachableLevelIsNotPromised(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(1))
	b := s.browser()
	for _, xp := range []level.XP{level.MaxXP, level.MaxXP - 1} {
		s.setXP(0, xp)
		b.get(memberPath(0)).want(200, "Max level reached.").lacks("XP to level")
		b.get("/leaderboard/gophers").want(200).lacks("XP to next level")
	}
	s.setXP(0, 100)
	b.get(memberPath(0)).want(200, "XP to level")
}

func TestAMemberHasAVisibleName(t *testing.T) {
	s := newSite(t, options{})
	rows := members(4)
	spaces, marks := "   ", "\u200b\u200d\ufeff"
	rows[0].User = leaderboard.User{Username: spaces, GlobalName: &spaces}
	rows[1].User = leaderboard.User{Username: marks, GlobalName: &marks}
	rows[2].User = leaderboard.User{Username: "badger", GlobalName: &marks}
	ida := "Ida"
	rows[3].User = leaderboard.User{Username: spaces, GlobalName: &ida}
	s.fill(rows)
	b := s.browser()
	for i, want := range []string{"Member 0000", "Member 0001", "badger", "Ida"} {
		b.get(memberPath(i)).want(200, "<h1><bdi>"+want+"</bdi></h1>").lacks("<bdi>"+spaces, "<bdi>"+marks)
	}
	board := b.get("/leaderboard/gophers").want(200, "who__name>Member 0000<", "who__name>Member 0001<", "who__name>badger<", "who__name>Ida<")
	board.lacks("who__handle")
	// The stream sends the same rows to the script.
	var sent rowsBody
	if err := json.Unmarshal([]byte(b.get("/leaderboard/gophers/rows").want(200).text), &sent); err != nil {
		t.Fatal(err)
	}
	for _, row := range sent.Rows {
		board.want(200, row)
	}
}

// Even inside <bdi>, a mark that ends the isolation would change the text beside the name.
func TestNamesDoNotReverseTheTextBesideThem(t *testing.T) {
	s := newSite(t, options{})
	const turned = "\u2069\u202etac"
	role, channel := guild.Role{ID: "600000000000000001", Name: turned}, guild.Channel{ID: "600000000000000002", Name: turned}
	s.guilds[public].Name = turned
	nameless := guild.Role{ID: "600000000000000003", Name: "\u202e"}
	s.guilds[public].RoleRewards = []guild.RoleReward{{Level: 1, Roles: []guild.Role{role, nameless}}}
	s.guilds[public].Multipliers = []guild.Multiplier{{Type: guild.ChannelMultiplier, Multiplier: 2, Channels: []guild.Channel{channel}}}
	rows := members(2)
	name := turned
	rows[0].User = leaderboard.User{Username: turned + "_", GlobalName: &name}
	s.fill(rows)
	b := s.browser()
	b.signIn()
	b.makeKey("guild", string(public))
	const board = "/leaderboard/gophers"
	search := board + "/search?q=" + string(rows[0].UserID[:9])
	for _, path := range []string{board, board + "/rows", search, memberPath(0), "/", "/profile", "/profile/history"} {
		b.get(path).want(200, "tac").lacks("\u2069", "\u202e")
	}
	b.get(board).want(200, "who__name>tac<", "who__handle>tac_<", "<h1><bdi>tac</bdi></h1>", "<title>tac leaderboard ·", "<bdi>#tac</bdi>",
		"<bdi>600000000000000003</bdi>")
}

func TestOneHasTheSingular(t *testing.T) {
	s := newSite(t, options{})
	s.guilds[public].MemberCount = 1
	rows := members(2)
	rows[0].MessageCount, rows[1].MessageCount = 1, 2000
	s.fill(rows)
	b := s.browser()
	// The bot's member count is left out when it contradicts the board.
	b.get("/leaderboard/gophers").want(200, `<span><span id="total">2</span> on the board`, ">1 <i>message</i>", ">2,000 <i>messages</i>").lacks("1 member")
	b.get(memberPath(0)).want(200, "<b>1</b> message<")
	b.get(memberPath(1)).want(200, "<b>2,000</b> messages<")
}

func TestAPageOfLongNamesStaysSmall(t *testing.T) {
	s := newSite(t, options{})
	rows := members(100)
	for i := range rows {
		name, avatar := strings.Repeat("W", 256), "a_"+strings.Repeat("f", 32)
		rows[i].User = leaderboard.User{Username: strings.Repeat("w", 256), GlobalName: &name, Avatar: &avatar}
		rows[i].XP, rows[i].MessageCount = level.MaxXP-level.XP(i+1), 1_000_000_000
	}
	s.fill(rows)
	b := s.browser()
	b.signIn()
	got := b.get("/leaderboard/gophers").want(200, "2.14B").lacks(strings.Repeat("W", 60))
	without := len(got.text) - 100*len("https://cdn.discordapp.com/avatars/300000000000000001/a_ffffffffffffffffffffffffffffffff.webp?size=64")
	t.Logf("%d bytes, %d without the addresses of avatars", len(got.text), without)
	if without > 120<<10 {
		t.Errorf("the page has %d bytes without the avatars' addresses, want at most 120 KiB", without)
	}
}
