package importer_test

import (
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
)

// fuzz reads any input as a file of a source, and checks that every member it reads is valid.
func fuzz(f *testing.F, from importer.From, seeds []string, more ...string) {
	for _, name := range seeds {
		f.Add(content(f, name))
	}
	for _, s := range more {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		reader := importer.Open([]importer.File{file("a", string(data))}, importer.Options{From: from, Guild: guild1})
		members, err := importer.Gather(t.Context(), reader, &memory{})
		report := reader.Report()
		if err != nil {
			return
		}
		count := 0
		for row, err := range members.Rows(level.Curve{}, 0) {
			if err != nil {
				t.Fatal(err)
			}
			count++
			if !id.Valid(string(row.UserID)) || row.XP < 0 || row.XP > level.MaxXP || row.Line < 1 || row.Shown < -1 || row.Shown > level.Max {
				t.Fatalf("the row %+v is accepted, out of bounds", row)
			}
			if n := row.MessageCount; n != nil && (*n < 0 || *n > importer.MaxMessageCount) {
				t.Fatalf("%d messages are accepted, out of bounds", *n)
			}
			if u := row.User; u != nil && (len(u.Username) > 256 || u.Avatar != nil && !guild.ValidHash(*u.Avatar)) {
				t.Fatalf("the user data %+v is accepted, out of bounds", u)
			}
		}
		if count != members.Count() || report.Rows != count+report.Duplicates || len(report.Skipped) != min(report.SkippedRows(), importer.MaxSkips) {
			t.Fatalf("%d members were read, and the report is %+v", count, report)
		}
		document, err := report.Proposal.In(settings(t))
		if err != nil {
			t.Fatalf("making settings of the proposal %+v: %v", report.Proposal, err)
		}
		if then, wrong := settings(t).With(document); wrong.Len() > 0 {
			t.Fatalf("the guild refuses the proposal %+v: %v", then, wrong.Err())
		}
	})
}

func FuzzAuto(f *testing.F) {
	fuzz(f, importer.Auto, []string{"lurkr-export.json", "mee6-page1.json", "amari-weekly.json", "amari-rewards.json", "polaris.txt", "auxdibot.csv"})
}

func FuzzLurkr(f *testing.F) {
	fuzz(f, importer.Lurkr, []string{"lurkr-export.json", "lurkr-export-new.json", "arcane-scrape.json"},
		`{"guild":{"id":"1"},"levels":[],"roleRewards":[{"level":1,"roles":[{"id":"1092837465019283811","name":"a"}]}],"xpGainInterval":30000,"xpGlobalMultiplier":1}`)
}

func FuzzArcane(f *testing.F) {
	fuzz(f, importer.Arcane, []string{"arcane-scrape.json", "lurkr-export.json"})
}

func FuzzMEE6(f *testing.F) {
	fuzz(f, importer.MEE6, []string{"mee6-page0.json", "mee6-page1.json"})
}

func FuzzAmari(f *testing.F) {
	fuzz(f, importer.Amari, []string{"amari-leaderboard.json", "amari-weekly.json", "amari-rewards.json"})
}

func FuzzPolaris(f *testing.F) {
	fuzz(f, importer.Polaris, []string{"polaris-everything.json", "polaris-xp.json", "polaris.csv", "polaris.txt"})
}

func FuzzLevelUp(f *testing.F) {
	fuzz(f, importer.LevelUp, []string{"levelup-guild.json", "levelup-cog.json"}, `{"users":{},"algorithm":{"base":3,"exp":1.5},"autoremove":true}`)
}

func FuzzTatsu(f *testing.F) {
	fuzz(f, importer.Tatsu, []string{"tatsu-rankings.json"})
}

func FuzzCSV(f *testing.F) {
	fuzz(f, importer.CSV, []string{"auxdibot.csv", "polaris.csv", "generic-semicolon-bom.csv"},
		"userId,xp,level,messageCount,lastUpdated,present,username,globalName,discriminator,avatar\n"+user(1)+",1,0,1,,false,'=a,\"b\r\nc\",0,\n")
}
