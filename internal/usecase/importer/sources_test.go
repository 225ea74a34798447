package importer_test

import (
	"testing"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
)

// Users of the samples. The ids of tobyrix and tobyrix_alt are equal as float64.
const (
	harrowfen id.User = "1184930275610483773"
	quillmoth id.User = "218840573316624391"
	lantern   id.User = "90317746208815627"
	toby      id.User = "1003775120948261939"
	tobyAlt   id.User = "1003775120948261941"
	marrowbee id.User = "645190382277410857"
	pell      id.User = "731206648190357511"
	nuno      id.User = "1271840093365518349"
	sable     id.User = "402918835504776203"
	winterpeg id.User = "877430116520948735"
	deleted   id.User = "1310022846675509267"
	zeroed    id.User = "556710394482207761"
)

// Every sample is recognized, all its members are read, and with its source's curve no level changes.
func TestSamplesAreReadAsTheirSourceShowsThem(t *testing.T) {
	for _, c := range []struct {
		files       []string
		from        importer.From
		members     int
		changeLevel int
	}{
		{[]string{"lurkr-export.json"}, importer.Lurkr, 12, 0},
		{[]string{"lurkr-export-new.json"}, importer.Lurkr, 8, 0},
		{[]string{"mee6-page0.json", "mee6-page1.json"}, importer.MEE6, 12, 0},
		{[]string{"amari-leaderboard.json", "amari-rewards.json"}, importer.Amari, 11, 0},
		{[]string{"polaris-everything.json"}, importer.Polaris, 12, 3},
		{[]string{"polaris-xp.json"}, importer.Polaris, 11, 0},
		{[]string{"polaris.csv"}, importer.CSV, 11, 0},
		{[]string{"polaris.txt"}, importer.Polaris, 11, 0},
		{[]string{"levelup-guild.json"}, importer.LevelUp, 10, 0},
		{[]string{"levelup-cog.json"}, importer.LevelUp, 4, 0},
		{[]string{"tatsu-rankings.json"}, importer.Tatsu, 8, 0},
		{[]string{"auxdibot.csv"}, importer.CSV, 8, 0},
	} {
		t.Run(c.files[0], func(t *testing.T) {
			w := samples(t, c.files...)
			p := w.plan(w.applied().Curve)
			if w.Files[0].From != c.from || p.Members != c.members || p.ChangeLevel != c.changeLevel || len(w.Report.Skipped) > 0 || w.Duplicates > 0 {
				t.Errorf("the files are %+v with the plan %+v and skipped %v", w.Files, p, w.Report.Skipped)
			}
		})
	}
}

func TestIDsEqualAsFloatsStayTwoMembers(t *testing.T) {
	for _, name := range []string{"lurkr-export.json", "mee6-page0.json", "amari-leaderboard.json", "polaris-everything.json", "polaris-xp.json",
		"polaris.csv", "polaris.txt", "levelup-guild.json", "tatsu-rankings.json", "auxdibot.csv"} {
		w := samples(t, name)
		one, other := w.rows[toby], w.rows[tobyAlt]
		if one.UserID != toby || other.UserID != tobyAlt || one.Line == 0 {
			t.Errorf("%s has the members %+v and %+v, want both ids", name, one, other)
		}
	}
}

func TestMEE6PagesAreRead(t *testing.T) {
	w := samples(t, "mee6-page0.json", "mee6-page1.json")
	w.xp(map[id.User]level.XP{harrowfen: 82641, quillmoth: 79004, lantern: 57770, toby: 24110, tobyAlt: 24110, marrowbee: 4675,
		pell: 4674, nuno: 1899, sable: 1150, winterpeg: 255, deleted: 63, zeroed: 0})
	w.warns()
	if u := w.rows[lantern].User; u == nil || u.Avatar != nil || u.Username != "old_lantern" || u.Discriminator != "0" {
		t.Errorf(`an avatar of "" is read as %+v, want none`, u)
	}
	if n := w.rows[harrowfen].MessageCount; n == nil || *n != 4127 {
		t.Errorf("the message count is read as %v, want 4127", n)
	}
	if r := w.rows[nuno]; r.File != 1 || r.Line != 1 {
		t.Errorf("the member is read from %+v, want line 1 of the second file", r)
	}
}

func TestMissingMEE6PagesAreWarnedAbout(t *testing.T) {
	samples(t, "mee6-page0.json").warns()
	samples(t, "mee6-page1.json").warns("Page 0")
	full := `{"page":0,"players":[` + repeat(1000, func(i int) string { return `{"id":"` + user(i) + `","xp":1}` }) + `]}`
	read(t, importer.Options{}, file("a.json", full)).warns("page 1")
	read(t, importer.Options{}, file("a.json", full), sample(t, "mee6-page1.json")).warns()
}

func TestAmarisLeaderboardIsRead(t *testing.T) {
	w := samples(t, "amari-leaderboard.json", "amari-weekly.json")
	w.warns("weekly")
	w.xp(map[id.User]level.XP{harrowfen: 18420, quillmoth: 17999, lantern: 8035, toby: 2035, tobyAlt: 2034, marrowbee: 535, pell: 355,
		nuno: 115, sable: 55, winterpeg: 35, deleted: 34})
	r := w.rows[lantern]
	if r.User == nil || r.User.Username != "old_lantern" || r.User.Discriminator != "0" || r.MessageCount != nil {
		t.Errorf("the member is %+v with %+v, want its name and no message count", r, r.User)
	}
	refused(t, importer.Options{}, sample(t, "amari-weekly.json"))
	refused(t, importer.Options{From: importer.Amari}, sample(t, "amari-weekly.json"), sample(t, "amari-rewards.json"))
}

func TestAmarisMembersWithoutALevelAreSkipped(t *testing.T) {
	w := read(t, importer.Options{}, file("a.json", `{"id":"`+string(guild1)+`","total_count":3,"data":[{"id":"`+user(1)+`","level":1,"exp":"40"},
{"id":"`+user(2)+`","exp":300}]}`))
	w.xp(map[id.User]level.XP{id.User(user(1)): 40})
	w.skipped(importer.Skip{Line: 2, Row: 2, Reason: importer.ReasonNoLevel})
	w.warns("has 3 members, and the files have 2")
}

func TestPolarisMarksHiddenAndMissingMembers(t *testing.T) {
	w := samples(t, "polaris-everything.json")
	if m := w.rows[marrowbee]; !m.Present || m.Hidden != hidden.ByManager || w.rows[pell].Hidden != 0 {
		t.Error("Polaris's hidden member is not hidden by the manager, or another is")
	}
	if p := w.plan(level.Curve{}); p.NotPresent != 0 || p.Capped != 1 {
		t.Errorf("the plan is %+v, want nobody absent and one capped", p)
	}
	if r := w.rows[harrowfen]; r.XP != level.MaxXP || r.Given != 5000000123 || !r.Capped() || r.Shown != 1000 {
		t.Errorf("the member is %+v, want 5000000123 XP capped to the maximum", r)
	}
	missing := read(t, importer.Options{}, file("p.json", `{"settings":{},"users":{"`+user(1)+`":{"xp":5,"missing":true}}}`))
	if missing.rows[id.User(user(1))].Present {
		t.Error("Polaris's missing member is present")
	}
}

// The export has its settings before its members, but other programs may write them after.
func TestPolarisSettingsAfterTheMembers(t *testing.T) {
	many := repeat(3000, func(i int) string { return `"` + user(i) + `":{"xp":1,"cooldown":1}` })
	if w := read(t, importer.Options{}, file("p.json", `{"users":{`+many+`},"settings":{}}`)); w.Files[0].From != importer.Polaris {
		t.Errorf("the files are %+v, want one of Polaris", w.Files)
	}
	w := read(t, importer.Options{}, file("p.json", `{"users":{"`+user(1)+`":{"xp":400,"cooldown":1},"`+user(2)+`":{"xp":199,"cooldown":1}},
"settings":{"curve":{"3":1,"2":50,"1":100},"rounding":100,"maxLevel":1000}}`))
	if p := w.plan(w.applied().Curve); p.ChangeLevel != 2 {
		t.Errorf("the plan is %+v, want 2 members whose level changes", p)
	}
}

func TestLevelUpsMembersAreRead(t *testing.T) {
	w := samples(t, "levelup-guild.json")
	w.warns("prestige, so that their XP counts only since then: 1")
	w.xp(map[id.User]level.XP{harrowfen: 48412, quillmoth: 32399, lantern: 32400, toby: 10000, tobyAlt: 2500, marrowbee: 401, pell: 400,
		nuno: 100, sable: 99, winterpeg: 0}) // LevelUp leaves out default values
	if n := w.rows[winterpeg].MessageCount; n == nil || *n != 12 {
		t.Errorf("the message count is read as %v, want 12", n)
	}
}

func TestOneGuildOfALevelUpBackupIsRead(t *testing.T) {
	if w := samples(t, "levelup-cog.json"); len(w.rows) != 4 {
		t.Errorf("%d members are read of the guild, want 4", len(w.rows))
	}
	w := read(t, importer.Options{SourceGuild: guild2}, sample(t, "levelup-cog.json"))
	w.xp(map[id.User]level.XP{sable: 12})
	want := "levelup-cog.json: the backup has no guild 100000000000000009; name one of its guilds as the source: " +
		"1092837465019283747, 1092837465019283999"
	if got := refused(t, importer.Options{Guild: "100000000000000009"}, sample(t, "levelup-cog.json")); got != want {
		t.Errorf("another guild is refused with %q, want %q", got, want)
	}
}

func TestArcaneMustBeNamed(t *testing.T) {
	w := samples(t, "arcane-scrape.json")
	w.warns("name Arcane as the source")
	if w.rows[harrowfen].XP != 1210 || w.Files[0].From != importer.Lurkr || w.Proposal.Given("curve") != "" {
		t.Errorf("without a named source the member is %+v of %+v, want 1210 XP as of Lurkr", w.rows[harrowfen], w.Files)
	}
	w = read(t, importer.Options{From: importer.Arcane}, sample(t, "arcane-scrape.json"))
	w.warns()
	w.xp(map[id.User]level.XP{harrowfen: 74360, quillmoth: 73224, lantern: 48825, toby: 10240, tobyAlt: 10240, marrowbee: 1949, pell: 526,
		nuno: 249, sable: 75, winterpeg: 74})
	if w.rows[harrowfen].MessageCount != nil {
		t.Error("Arcane's 0 is read as a message count")
	}
}

// Lurkr's older export looks like Arcane's, but its levels follow from its XP.
func TestLurkrsExportsAreRead(t *testing.T) {
	w := samples(t, "lurkr-export.json")
	w.warns()
	u := w.rows[lantern].User
	if u.Username != "old_lantern" || u.Discriminator != "4410" || w.rows[deleted].User != nil || w.rows[harrowfen].User.Avatar == nil {
		t.Errorf("the users are %+v and %+v, want the name with its discriminator and none", u, w.rows[deleted].User)
	}
	u = samples(t, "lurkr-export-new.json").rows[marrowbee].User
	if u.GlobalName == nil || *u.GlobalName != `Marrow, "the Bee"` || u.Username != "marrowbee" {
		t.Errorf("the user is %+v, want the global name and marrowbee", u)
	}
	arcane := `{"levels":[{"avatar":null,"level":38,"messageCount":0,"tag":"x","userId":"` + user(1) + `","xp":1210}]}`
	read(t, importer.Options{}, file("a.json", arcane)).warns("name Arcane as the source")
}

func TestSeveralFilesAreOneImport(t *testing.T) {
	w := samples(t, "polaris-xp.json", "auxdibot.csv", "tatsu-rankings.json")
	if w.Rows != 27 || w.Duplicates != 16 || w.members.Count() != 11 {
		t.Errorf("%d rows with %d duplicates and %d members, want 27, 16 and 11", w.Rows, w.Duplicates, w.members.Count())
	}
	w.warns()
	if r := w.rows[nuno]; r.File != 0 || r.XP != 399 {
		t.Errorf("the member is %+v, want 399 XP of the first file", r)
	}
	if w.rows[quillmoth].XP != 4400120 || w.rows[quillmoth].File != 2 || w.rows[marrowbee].XP != 4675 {
		t.Errorf("of duplicates %+v and %+v count, want those with the most XP", w.rows[quillmoth], w.rows[marrowbee])
	}
}

func TestOfEqualDuplicatesTheFirstCounts(t *testing.T) {
	w := read(t, importer.Options{}, file("a.csv", "id,xp,name\n"+user(1)+",5,first\n"+user(1)+",5,second\n"+user(1)+",4,third\n"))
	if r := w.rows[id.User(user(1))]; r.Line != 2 || r.User.Username != "first" || w.Duplicates != 2 {
		t.Errorf("of equal duplicates %+v counts, want the first", r)
	}
}

func TestFilesOfAnotherGuildAreWarnedAbout(t *testing.T) {
	for _, name := range []string{"mee6-page0.json", "amari-leaderboard.json", "tatsu-rankings.json"} {
		read(t, importer.Options{Guild: guild2}, sample(t, name)).warns("is about guild " + string(guild1))
		read(t, importer.Options{Guild: guild2, SourceGuild: guild1}, sample(t, name)).warns()
	}
}
