package importer_test

import (
	"strings"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
)

func TestASpreadsheetsTableIsRead(t *testing.T) {
	w := samples(t, "generic-semicolon-bom.csv")
	w.xp(map[id.User]level.XP{harrowfen: 25000, quillmoth: 23850, marrowbee: 4675})
	w.skipped(
		importer.Skip{Line: 6, Row: 4, Reason: importer.ReasonNegative},
		importer.Skip{Line: 7, Row: 5, Reason: importer.ReasonExponent},
		importer.Skip{Line: 9, Row: 7, Reason: importer.ReasonID},
		importer.Skip{Line: 10, Row: 8, Reason: importer.ReasonSpreadsheetID},
		importer.Skip{Line: 11, Row: 9, Reason: importer.ReasonNoXP},
	)
	if w.Duplicates != 1 || w.rows[harrowfen].Line != 5 || *w.rows[harrowfen].MessageCount != 4200 {
		t.Errorf("%d duplicates, and %+v was kept, want 1 and line 5 with 4200 messages", w.Duplicates, w.rows[harrowfen])
	}
	if u := w.rows[quillmoth].User; u.Username != "Quill; the Moth" {
		t.Errorf("the user is %+v, want Quill; the Moth", u)
	}
}

func TestXPInATable(t *testing.T) {
	for _, c := range []struct {
		field string
		xp    level.XP
		why   importer.Reason
	}{
		{`"24,110"`, 24110, ""},
		{`"1,234,567.9"`, 1234567, ""},
		{`"24,11"`, 0, importer.ReasonNumber},
		{`"2411,000"`, 0, importer.ReasonNumber},
		{`"0,999"`, 0, importer.ReasonNumber},
		{`",110"`, 0, importer.ReasonNumber},
		{"24.110", 0, importer.ReasonAmbiguous},
		{"1.234.567", 0, importer.ReasonNumber},
		{"24110.125", 24110, ""},
		{"0.125", 0, ""},
		{"4675.5", 4675, ""},
		{"0.99", 0, ""},
		{".5", 0, importer.ReasonNumber},
		{"5.", 0, importer.ReasonNumber},
		{" 5 ", 5, ""},
		{"007", 7, ""},
		{"2147483647", level.MaxXP, ""},
		{"2147483648", level.MaxXP, ""},
		{strings.Repeat("9", 400), level.MaxXP, ""},
		{"-0.5", 0, importer.ReasonNegative},
		{"+5", 0, importer.ReasonNumber},
		{"NaN", 0, importer.ReasonNumber},
		{"inf", 0, importer.ReasonNumber},
		{"1e3", 0, importer.ReasonExponent},
		{"0x10", 0, importer.ReasonNumber},
		{"1_000", 0, importer.ReasonNumber},
		{"5 000", 0, importer.ReasonNumber},
		{"٣", 0, importer.ReasonNumber},
		{"", 0, importer.ReasonNoXP},
	} {
		w := read(t, importer.Options{}, file("a.csv", "id,xp\n"+user(1)+","+c.field+"\n"))
		row, ok := w.rows[id.User(user(1))]
		if ok != (c.why == "") || row.XP != c.xp || !ok && w.Reasons[c.why] != 1 {
			t.Errorf("the XP %q are read as %d (%v), skipped for %v, want %d %q", c.field, row.XP, ok, w.Reasons, c.xp, c.why)
		}
	}
}

func TestInvalidRowsOfATableAreSkipped(t *testing.T) {
	const u = "200000000000000001"
	for _, c := range []struct {
		header, row string
		why         importer.Reason
	}{
		{"id,name,xp", u + ",a,b,5", importer.ReasonFields}, // a comma in an unquoted name
		{"id,xp,name", u + ",5", importer.ReasonFields},
		{"id,xp", `"` + u + `"x,5`, importer.ReasonQuotes},
		{"id,name,xp", u + `,a"b,5`, importer.ReasonQuotes},
		{"id,name,xp", u + ",caf\xe9,5", importer.ReasonUTF8},
		{"id,xp", "0" + u[1:] + ",5", importer.ReasonID},
		{"id,xp", "-" + u + ",5", importer.ReasonID},
		{"id,xp", u + "00,5", importer.ReasonID},
		{"id,xp", ",5", importer.ReasonNoID},
		{"id,xp,messages", u + ",5,-1", importer.ReasonMessages},
		{"id,xp,messages", u + ",5,many", importer.ReasonMessages},
		{"id,xp,messages", u + ",5,2147483648", importer.ReasonMessages},
		{"id,xp,present", u + ",5,maybe", importer.ReasonPresent},
		{"id,level", u + ",10001", importer.ReasonLevel},
		{"id,level", u + ",", importer.ReasonLevel},
	} {
		w := read(t, importer.Options{}, file("a.csv", c.header+"\n"+c.row+"\n"))
		w.skipped(importer.Skip{Line: 2, Row: 1, Reason: c.why})
		if len(w.rows) > 0 {
			t.Errorf("the row %s is imported as %+v, want it skipped", c.row, w.rows)
		}
	}
}

func TestColumnsAreFoundByTheirNames(t *testing.T) {
	const u = "200000000000000001"
	for _, c := range []string{
		"User ID,Total XP\n" + u + ",5", "xp\tuserId\r\n5\t" + u + "\r\n", "member_id|exp\n" + u + "|5", "\ufeffID;XP\n" + u + ";5\n",
		"\n\nid,xp\n" + u + ",5", "id,xp\n,\n" + u + ",5\n ,\n", "id,xp\n'" + u + ",5", `"User ID","XP"` + "\n" + `"` + u + `","5"`,
	} {
		w := read(t, importer.Options{}, file("a.csv", c))
		w.xp(map[id.User]level.XP{u: 5})
		w.skipped()
	}
	for _, c := range []struct{ content, message string }{
		{"id,user id,xp\n", "two columns may be the user id"},
		{"id,xp,total xp\n", "two columns may be the XP"},
		{"name,xp\n", "a table needs"},
		{u + ",5\n", "a table needs"},
		{"id,name\n", "a table needs"},
	} {
		if got := refused(t, importer.Options{}, file("a.csv", c.content)); !strings.Contains(got, c.message) {
			t.Errorf("the table %q is refused with %s, want %q", c.content, got, c.message)
		}
	}
}

// A spreadsheet may change an export's case, dates and line ends. No member is lost.
func TestAnExportSavedByASpreadsheetIsRead(t *testing.T) {
	const avatar = "0123456789abcdef0123456789abcdef"
	one, two := id.User(user(1)), id.User(user(2))
	rows := "userId,xp,lastUpdated,present,username,avatar\n" +
		user(1) + `,5,10/03/2026 19:00,FALSE,ada,` + avatar + "\n" + user(2) + `,6,2026-03-10,True,"b, ""ob""","` + avatar + "\"\n"
	lines := strings.SplitN(rows, "\n", 2)
	for name, content := range map[string]string{
		"LF": rows, "CR LF": strings.ReplaceAll(rows, "\n", "\r\n"), "CR": strings.ReplaceAll(rows, "\n", "\r"),
		"an LF header over CR LF rows": lines[0] + "\n" + strings.ReplaceAll(lines[1], "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			w := read(t, importer.Options{}, file("a.csv", content))
			w.xp(map[id.User]level.XP{one: 5, two: 6})
			w.skipped()
			w.warns()
			a, b := w.rows[one], w.rows[two]
			if a.Present || !b.Present || a.User.Username != "ada" || b.User.Username != `b, "ob"` || *a.User.Avatar != avatar || *b.User.Avatar != avatar || !a.LastUpdated.IsZero() {
				t.Errorf("the members are %+v with %+v and %+v with %+v", a, a.User, b, b.User)
			}
		})
	}
	read(t, importer.Options{}, file("a.txt", user(1)+" - 5\r"+user(2)+" - 6\r")).xp(map[id.User]level.XP{one: 5, two: 6})
}

// Line ends between quotes belong to a name. A quote in the middle of a field opens nothing.
func TestLineEndsInQuotesBelongToNames(t *testing.T) {
	content := "id,xp,name\r\n" + user(1) + ",5,\"a\r\nb\rc\nd\"\r\n" + user(2) + ",6,a\"b\r\n" + user(3) + ",7,c\r\n"
	w := read(t, importer.Options{}, file("a.csv", content))
	if row := w.rows[id.User(user(1))]; row.User == nil || row.User.Username != "a\nb\rc\nd" {
		t.Errorf("the member is %+v with %+v, want the name with its line ends", row, row.User)
	}
	if row := w.rows[id.User(user(3))]; row.User == nil || row.User.Username != "c" {
		t.Errorf("the member is %+v with %+v, want the name c", row, row.User)
	}
	w.skipped(importer.Skip{Line: 5, Row: 2, Reason: importer.ReasonQuotes})
}

func TestNamesWithDiscriminatorsInATable(t *testing.T) {
	for content, want := range map[string]string{
		"id,xp,name\n" + user(1) + ",5,old_lantern#4410\n":                    "old_lantern 4410",
		"id,xp,tag\n" + user(1) + ",5,#5\n":                                   "#5 0",
		"id,xp,name,discriminator\n" + user(1) + ",5,old_lantern#4410,0001\n": "old_lantern#4410 0001",
	} {
		row := read(t, importer.Options{}, file("a.csv", content)).rows[id.User(user(1))]
		if got := row.User.Username + " " + row.User.Discriminator; got != want {
			t.Errorf("the name in %q is read as %q, want %q", content, got, want)
		}
	}
}

func TestXPIsDerivedFromLevels(t *testing.T) {
	amari, _ := level.Preset(level.PresetAmari)
	w := read(t, importer.Options{Curve: amari}, file("a.csv", "id,level\n"+user(1)+",10\n"+user(2)+",0\n"+user(3)+",10000\n"+user(1)+",9\n"))
	w.xp(map[id.User]level.XP{id.User(user(1)): amari.XPFor(10), id.User(user(2)): 0, id.User(user(3)): amari.XPFor(10000)})
	if p := w.plan(amari); p.FromLevels != 3 || p.ChangeLevel != 0 {
		t.Errorf("the plan is %+v, want 3 members from levels, and no level changed", p)
	}
}

// An open quote swallows the rest of the file, so its members would be a guess.
func TestATableWithAnOpenQuoteIsRefused(t *testing.T) {
	content := "id,name,xp\n" + user(1) + ",a,1\n" + user(2) + ",\"b,2\n" + user(3) + ",c,3\n"
	if got := refused(t, importer.Options{}, file("a.csv", content)); got != "a.csv:3: a quote is not closed" {
		t.Errorf("the table is refused with %q, want the line of the open quote", got)
	}
}

func TestIDsRoundedByASpreadsheetAreWarnedAbout(t *testing.T) {
	rows := "id,xp\n1184930275610480000,1\n1003775120948260000,2\n" + user(1) + ",3\n"
	read(t, importer.Options{}, file("a.csv", rows)).warns("end in 000: 2")
	read(t, importer.Options{}, file("a.csv", rows+user(2)+",4\n")).warns()
}
