package web_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

// counting lets the public guild count gains of days, weeks and a season that runs for another month.
func (s *site) counting() {
	today := period.DayAt(s.clock(), time.UTC)
	s.guilds.change(public, func(g *guild.Guild) {
		g.Periods = []period.Kind{period.Daily, period.Weekly}
		g.Seasons = []period.Season{{ID: "cup", Name: "<b>Cup", Start: today - 3, End: today + 30}}
		g.Version++
	})
}

// gain adds to the XP of member i.
func (s *site) gain(i int, xp level.XP) {
	s.t.Helper()
	if _, err := s.board.Change(s.t.Context(), s.guilds.get(public), memberID(i), leaderboard.Change{Op: leaderboard.Increment, Amount: xp}); err != nil {
		s.t.Fatal(err)
	}
}

func TestAPeriodHasABoard(t *testing.T) {
	s := newSite(t, options{})
	s.counting()
	rows := members(150)
	rows[7].UserID = ada
	s.fill(rows)
	for i := range 120 {
		if i != 7 {
			s.gain(149-i, level.XP(1000+i))
		}
	}
	b := s.browser()
	today := period.DayAt(s.clock(), time.UTC)
	day, thisWeek := period.At(period.Daily, today).ID, period.At(period.Weekly, today).ID
	b.get("/leaderboard/gophers").want(200, `aria-label="Periods"`, `href="/leaderboard/gophers" aria-current="page">All time`, "Today", "ends <time datetime=",
		"&lt;b&gt;Cup", " days</time>", `href="/leaderboard/gophers/periods">Past`)
	week := b.get("/leaderboard/gophers?period=week").want(200, `period=week" aria-current="page">This week`, "Week of ", "board--podium", ">+1,119 <i>XP", `<span id="gained">126,133</span> XP gained`, `<meta property="og:description" content="`, "(&#43;1,119 XP)",
		`data-rows="/leaderboard/gophers/rows?period=`+thisWeek+`&amp;page=1"`, `data-live="/leaderboard/gophers/live?period=`+thisWeek+`&amp;page=1"`, `?period=`+thisWeek+`&amp;page=2`,
		`og:image" content="`+s.url+`/leaderboard/gophers/preview.png?period=`+thisWeek+`"`).
		lacks(`<i>messages`)
	if all := b.get("/leaderboard/gophers/preview.png").want(200); b.get("/leaderboard/gophers/preview.png?period="+thisWeek).want(200).text == all.text {
		t.Error("the picture of the week is that of all time")
	}
	if at := strings.Index(week.text, "<li id=m"); !strings.HasPrefix(week.text[at:], "<li id=m"+string(memberID(30))) {
		t.Errorf("the first row is %s, want member 30", week.text[at:at+40])
	}
	b.get("/leaderboard/gophers?period=season-cup&page=2").want(200, "Rank </i>101<").lacks("board--podium")
	b.get("/leaderboard/gophers?period=season&page=9").want(200, "Only 2 pages")
	for path, want := range map[string]string{
		"?period=day&rank=2": "?period=day&page=1#m" + string(memberID(31)), "?period=day&rank=119": "?period=day&page=2#m" + string(memberID(149)),
		"?period=day&rank=500": "?period=day&page=2&past=rank", "?period=week&member=" + string(memberID(149)): "?period=week&page=2#m" + string(memberID(149)),
		"/search?period=day&q=%232": "?period=day&page=1#m" + string(memberID(31)), "/search?q=150": "?page=2#m" + string(memberID(142)),
	} {
		if got := b.still().get("/leaderboard/gophers" + path).want(303).header.Get("Location"); got != "/leaderboard/gophers"+want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
	b.get("/leaderboard/gophers?period=week&member="+string(memberID(3))).want(404, "ranked yet")
	for _, path := range []string{"/rows", "/live"} {
		if got := b.still().get("/leaderboard/gophers" + path + "?period=day&page=2").want(307).header.Get("Location"); got != "/leaderboard/gophers"+path+"?page=2&period="+day {
			t.Errorf("the kind of a period leads to %s, want the day's address", got)
		}
	}
	rowsOfDay := "/leaderboard/gophers/rows?period=" + day
	etag := b.get(rowsOfDay).want(200, `"total":119`, `"period":"`+day+`"`, `"gained":126133`).lacks(`"closed"`).header.Get("ETag")
	b.get(rowsOfDay, "If-None-Match", etag).want(304)
	s.gain(7+1, 5)
	b.get(rowsOfDay, "If-None-Match", etag).want(200, `"total":120`)

	b.signIn()
	b.get("/leaderboard/gophers?period=week").want(200).lacks(`id="own"`)
	if _, err := s.board.Change(t.Context(), s.guilds.get(public), ada, leaderboard.Change{Op: leaderboard.Increment, Amount: 3}); err != nil {
		t.Fatal(err)
	}
	own := b.get("/leaderboard/gophers?period=week").want(200, "<li id=own"+ada, "+3 <i>XP").text
	if strings.Index(own, "id=own"+ada) > strings.Index(own, "<li id=m") {
		t.Error("the visitor's own row is not above the others")
	}
	b.get("/leaderboard/gophers/periods").want(200, "<bdi>&lt;b&gt;Cup</bdi>", "Week of ", "+1,119", "Winners of").lacks("<b>Cup")
	b.get("/leaderboard/gophers/periods?page=2").want(200, "No more periods")
	b.get("/leaderboard/gophers/periods?kind=week").want(200, "<h2>Now</h2>", "Week of ", `kind=week" aria-current="true">Weeks`).lacks("Cup</bdi>")
	b.get("/leaderboard/gophers/periods?kind=year").want(400, "day, week, month or season")
	b.get(memberPath(30)).want(200, "This week</a>", ">#1</span>", "+1,119", "Show as table", "1,119 XP in the last year, on 1 day.", `class="plot__bars" d="M`)
	b.get(memberPath(30)+"/standing").want(200, `<table class="table standing">`, "Top ", "/users/"+string(memberID(30))+"/card.svg").lacks("<html")
}

// The open page of a period shows that period only, and its stream ends with the period.
func TestAPeriodsStreamEndsWithThePeriod(t *testing.T) {
	s := newSite(t, options{})
	s.counting()
	s.fill(members(3))
	s.gain(1, 40)
	day := period.At(period.Daily, period.DayAt(s.clock(), time.UTC)).ID
	w := s.browser().watch("/leaderboard/gophers/live?period=" + day + "&page=1")
	w.until(func(r rowsBody) bool { return r.Period == day && r.Gained == 40 && len(r.Order) == 1 })
	s.gain(2, 60)
	w.until(func(r rowsBody) bool {
		return r.Period == day && r.Gained == 100 && r.Order[0] == "m"+string(memberID(2))
	})
	s.pass(24 * time.Hour)
	for range w.got {
		t.Error("rows came after the period's end")
	}
	s.browser().get("/leaderboard/gophers/live?period=" + day).want(404)
}

func TestTheLevelsAreListed(t *testing.T) {
	s := newSite(t, options{})
	rows := members(3)
	rows[1].UserID, rows[1].XP = ada, 4200
	s.fill(rows)
	s.guilds[public].RoleRewards = []guild.RoleReward{{Level: 11, Stack: true, Roles: []guild.Role{{ID: "1", Name: "Regular <b>"}}}}
	b := s.browser()
	b.get("/leaderboard/gophers").want(200, `href="/leaderboard/gophers/levels">All levels`)
	b.get("/leaderboard/gophers/levels").want(200, "4,150", "490,150", "Regular &lt;b&gt;").lacks("reached", "XP to go", ">101<")
	b.signIn()
	b.get("/leaderboard/gophers/levels").want(200, "You are at level 10 with 4,200 XP.", "reached", "XP to go")
	b.get("/leaderboard/gophers/members/"+ada).want(200, "XP to level 11, some ", "messages. <a") // 27.5 XP each
	b.get("/leaderboard/" + string(closed) + "/levels").want(403)
}

func TestBadAddressesAreExplained(t *testing.T) {
	s := newSite(t, options{})
	s.counting()
	s.fill(members(3))
	b := s.browser()
	for path, status := range map[string]int{
		"?period=": 200, "?period=week": 200, "?period=fortnight": 400, "?period=2026-W54": 400, "?period=Week": 200, "?period=2026-w54": 400, "?period=Fortnight": 400, "?period=month": 404, "?period=1999-W01": 404,
		"?period=season-none": 404, "?period=2099-01-01": 404, "?period=week&period=week": 400, "?page=1&page=2": 400, "?page=x": 400, "?a=%zz": 400, "?a;b": 400,
		"?period=week&rank=x": 400, "?period=nonsense&rank=1": 400, "?period=nonsense&member=" + string(memberID(1)): 400,
		"/rows?period=nonsense": 400, "/rows?period=month": 404, "/rows?page=0": 400, "/rows?page=1&page=1": 400, "/live?period=nonsense": 400, "/live?period=month": 404, "/live?page=1&page=1": 400,
		"/periods": 200, "/periods?page=0": 400, "/periods?page=1&page=1": 400, "/periods/x": 404, "/periods?page=9223372036854775807": 200,
		"/search?q=a&q=b": 400, "/search?period=nonsense&q=1": 400, "/members": 404, "/members/x": 404, "/members/" + ada: 404, "/members/x/standing": 404,
		"/members/" + ada + "/standing": 404, "/members/" + string(memberID(1)) + "/standing?a=1&a=2": 400, "/members/" + string(memberID(1)) + "?done=xp&done=xp": 400,
	} {
		b.get("/leaderboard/gophers" + path).want(status)
	}
	for _, path := range []string{"/periods", "/members/" + string(memberID(1)) + "/standing", "?period=week"} {
		b.get("/leaderboard/" + string(closed) + path).want(401).lacks("Moles")
	}
}

func TestABoardWithoutPeriodsHasNoTabs(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(3))
	b := s.browser()
	b.get("/leaderboard/gophers").want(200).lacks(`aria-label="Periods"`, "/periods")
	b.get("/leaderboard/gophers?period=week").want(404, "There is no leaderboard for this period.")
	b.get("/leaderboard/gophers/periods").want(200, "No period has ended yet.")
	b.get(memberPath(1)).want(200, ">#2</span>").lacks("This week", "XP by day")
}

// A member's dot has the colour of the highest reward with a colour that the member has.
func TestRolesHaveTheirColours(t *testing.T) {
	s := newSite(t, options{})
	red, none, green := 0xff0000, 0, 0x00ff00
	role := func(n string, colour *int) guild.Role {
		return guild.Role{ID: id.Role(n), Name: "Role " + n, Color: colour}
	}
	s.guilds[public].RoleRewards = []guild.RoleReward{
		{Level: 1, Stack: true, Roles: []guild.Role{role("1", &red)}}, {Level: 2, Roles: []guild.Role{role("2", &green)}},
		{Level: 300, Stack: true, Roles: []guild.Role{role("3", &none), role("4", nil)}}, {Level: 9999, Roles: []guild.Role{role("5", &green)}},
	}
	s.fill(members(3))
	s.setXP(1, 200)
	s.setXP(2, 0)
	page := unescaped(s.browser().get("/leaderboard/gophers/rows").want(200).text)
	for user, want := range map[id.User]string{memberID(0): "#ff0000", memberID(1): "#00ff00", memberID(2): ""} {
		row := page[strings.Index(page, "<li id=m"+string(user)):]
		row = row[:strings.Index(row, "</li>")]
		if has := strings.Contains(row, "class=dot"); has != (want != "") || !strings.Contains(row, want) {
			t.Errorf("the row of %s has another colour than %q: %s", user, want, row)
		}
	}
}

// unescaped reverses how JSON escapes HTML.
func unescaped(text string) string { return strings.NewReplacer(`\"`, `"`, `\n`, "\n").Replace(text) }

// Most visitors load a page of a hundred members with avatars, names and rewards.
func TestAPackedBoardIsSmall(t *testing.T) {
	s := newSite(t, options{})
	s.counting()
	colour := 0x11aa55
	for n := range level.Level(6) {
		s.guilds[public].RoleRewards = append(s.guilds[public].RoleRewards, guild.RoleReward{Level: 10 * n, Roles: []guild.Role{{ID: id.Role(fmt.Sprint(n)), Name: fmt.Sprint("Reward ", n), Color: &colour}}})
	}
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("amber birch cedar delta ember flint gravel harbor indigo juniper kestrel lemon maple nectar otter pepper quartz raven saffron thistle umber violet willow yarrow zephyr")
	rows := members(100)
	for i := range rows {
		word, other := words[random.IntN(len(words))], words[random.IntN(len(words))]
		name, avatar := strings.ToUpper(word[:1])+word[1:]+" "+other, fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64())
		rows[i].UserID = id.User(fmt.Sprint(100000000000000000 + random.Int64N(900000000000000000)))
		rows[i].User = leaderboard.User{Username: word + other + fmt.Sprint(random.IntN(1000)), GlobalName: &name, Avatar: &avatar}
		rows[i].XP, rows[i].MessageCount = level.XP(1_000_000/(i+1)+random.IntN(5000)), int64(30_000/(i+1)+random.IntN(500))
	}
	s.fill(rows)
	got := s.browser().get("/leaderboard/gophers", "Accept-Encoding", "br, gzip").want(200)
	if got.header.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(got.header.Get("ETag"), `W/"`) {
		t.Errorf("the board is not sent as gzip with a weak ETag: %v", got.header)
	}
	unpacked, err := gzip.NewReader(strings.NewReader(got.text))
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(unpacked)
	if n := strings.Count(string(page), "<details><summary>"); err != nil || n != 100 {
		t.Fatalf("the unpacked page has %d rows (%v), want 100", n, err)
	}
	t.Logf("%d bytes, packed %d", len(page), len(got.text))
	if len(got.text) >= 12<<10 {
		t.Errorf("the packed page has %d bytes, want less than 12 KiB", len(got.text))
	}
}

// The packed size reveals repetitions, so no page with a secret is packed.
func TestSecretsAreNotPacked(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	got := b.post("/profile", map[string][]string{"name": {"bot"}, "permission": {"read"}, "expiry": {"never"}}, "Accept-Encoding", "gzip")
	if got.want(http.StatusOK, "lb_").header.Get("Content-Encoding") != "" {
		t.Error("a page with a secret is packed")
	}
	if b.get("/profile", "Accept-Encoding", "gzip").want(200).header.Get("Content-Encoding") != "gzip" {
		t.Error("the profile without a secret is not packed")
	}
}
