package importer_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

func seq(all []importer.Exported) iter.Seq2[importer.Exported, error] {
	return func(yield func(importer.Exported, error) bool) {
		for _, m := range all {
			if !yield(m, nil) {
				return
			}
		}
	}
}

func export(t testing.TB, f importer.Format, all []importer.Exported) string {
	t.Helper()
	var out bytes.Buffer
	if err := importer.Export(&out, f, level.Curve{}, seq(all)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// hostile returns names that a spreadsheet, or a parser of CSV or JSON, may change.
func hostile() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{"=", "+", "-", "@", "'", "\"", ",", ";", "\t", "\r", "\n", "\r\n", "\\", "＝", "＠", " ", "\u2028", "\ufeff", "🦋", "a", "1"})
	parts := rapid.Map(rapid.SliceOfN(part, 0, 8), func(p []string) string { return strings.Join(p, "") })
	// A string has no unpaired surrogates, and a name has no NUL.
	return rapid.OneOf(parts, rapid.Map(rapid.StringN(0, 60, 256), func(s string) string { return strings.ReplaceAll(s, "\x00", "") }))
}

// An export is read back exactly, with any names.
func TestExportReadsBackExactly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.IntRange(0, 4).Draw(rt, "members")
		all := make([]importer.Exported, count)
		for i := range all {
			m := &all[i]
			m.UserID = id.User(user(i))
			m.XP = level.XP(rapid.Int64Range(0, int64(level.MaxXP)).Draw(rt, "xp"))
			m.MessageCount = rapid.Int64Range(0, importer.MaxMessageCount).Draw(rt, "messages")
			m.Present = rapid.Bool().Draw(rt, "present")
			if ms := rapid.Int64Range(0, 1<<41).Draw(rt, "updated"); ms > 0 {
				m.LastUpdated = time.UnixMilli(ms).UTC()
			}
			m.User = leaderboard.User{
				Username: hostile().Draw(rt, "username"), Discriminator: hostile().Draw(rt, "discriminator"),
				GlobalName: rapid.Ptr(hostile(), true).Draw(rt, "globalName"),
				Avatar:     rapid.Ptr(rapid.StringMatching("(a_)?[0-9a-z]{32}"), true).Draw(rt, "avatar"),
			}
		}
		for _, f := range []importer.Format{importer.FormatJSON, importer.FormatCSV} {
			content := export(t, f, all)
			w := read(t, importer.Options{}, file("export", content))
			if w.Warnings != nil || w.Report.Skipped != nil || len(w.order) != count || w.Proposal.Given("curve") != "" {
				rt.Fatalf("%s: the report is %+v, want %d members and no warnings, of\n%s", f, w.Report, count, content)
			}
			for i, row := range w.order {
				back := importer.Exported{Present: row.Present, Member: leaderboard.Member{
					UserID: row.UserID, XP: row.XP, MessageCount: *row.MessageCount, LastUpdated: row.LastUpdated,
				}}
				if row.User != nil {
					back.User = *row.User
				}
				if !reflect.DeepEqual(back, all[i]) || row.Shown != (level.Curve{}).LevelAt(row.XP) {
					rt.Fatalf("%s: read back %+v, want %+v, in\n%s", f, back, all[i], content)
				}
			}
		}
	})
}

func TestAnExportHasTheDocumentedForm(t *testing.T) {
	all := []importer.Exported{
		{Present: true, Hidden: hidden.ByManager | hidden.BySelf, Member: leaderboard.Member{
			UserID: toby, XP: 550, MessageCount: 7, LastUpdated: time.Date(2026, 3, 10, 19, 0, 11, 482_000_000, time.UTC),
			User: leaderboard.User{Username: "=1+1", GlobalName: new("Toby, \"x\""), Discriminator: "0", Avatar: new("0000000000005f3a9c1e77b04d2203b5")},
		}},
		{Member: leaderboard.Member{UserID: tobyAlt}},
	}
	const wantCSV = "userId,xp,level,messageCount,lastUpdated,present,username,globalName,discriminator,avatar,hidden\n" +
		"1003775120948261939,550,4,7,2026-03-10T19:00:11.482Z,true,'=1+1,\"Toby, \"\"x\"\"\",0,0000000000005f3a9c1e77b04d2203b5,manager self\n" +
		"1003775120948261941,0,0,0,,false,,,,,\n"
	if got := export(t, importer.FormatCSV, all); got != wantCSV {
		t.Errorf("the CSV is\n%swant\n%s", got, wantCSV)
	}
	const wantJSON = `{"levels":[
{"userId":"1003775120948261939","xp":550,"level":4,"messageCount":7,"lastUpdated":"2026-03-10T19:00:11.482Z","present":true,` +
		`"user":{"avatar":"0000000000005f3a9c1e77b04d2203b5","discriminator":"0","globalName":"Toby, \"x\"","username":"=1+1"},"hidden":["manager","self"]},
{"userId":"1003775120948261941","xp":0,"level":0,"messageCount":0,"lastUpdated":null,"present":false,` +
		`"user":{"avatar":null,"discriminator":"","globalName":null,"username":""},"hidden":[]}
]}
`
	if got := export(t, importer.FormatJSON, all); got != wantJSON {
		t.Errorf("the JSON is\n%swant\n%s", got, wantJSON)
	}
}

// No field, and no part that a spreadsheet may take for a cell, begins as a formula does.
func TestAnExportHasNoFormulas(t *testing.T) {
	for name, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "＝1": "'＝1", "\t=1": "'\t'=1", "\r=1": "'\r'=1", "\n=1": "'\n'=1",
		"a;=1+1;b;'@c": "a;'=1+1;b;''@c", ";;-1": ";;'-1", "a\n+1": "a\n'+1", "a; b": "a; b", "a=b": "a=b",
	} {
		all := []importer.Exported{{Member: leaderboard.Member{UserID: toby, User: leaderboard.User{Username: name, GlobalName: &name, Discriminator: name}}}}
		records, err := csv.NewReader(strings.NewReader(export(t, importer.FormatCSV, all))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range records[1][6:9] {
			if field != want {
				t.Errorf("%q is written as %q, want %q", name, field, want)
			}
		}
	}
}

func TestAnExportReturnsErrors(t *testing.T) {
	broken := errors.New("broken")
	failing := func(yield func(importer.Exported, error) bool) { yield(importer.Exported{}, broken) }
	for _, f := range []importer.Format{importer.FormatJSON, importer.FormatCSV} {
		if err := importer.Export(&bytes.Buffer{}, f, level.Curve{}, failing); !errors.Is(err, broken) {
			t.Errorf("%s with failing members: %v, want their error", f, err)
		}
		if err := importer.Export(full{}, f, level.Curve{}, seq(make([]importer.Exported, 1000))); !errors.Is(err, errFull) {
			t.Errorf("%s to a full writer: %v, want errFull", f, err)
		}
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }
