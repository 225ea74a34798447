package importer_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"levelboard/internal/usecase/importer"
)

func TestInvalidMembersInJSONAreSkipped(t *testing.T) {
	const u = `"userId":"200000000000000001"`
	for _, c := range []struct {
		member string
		why    importer.Reason
	}{
		{`{"xp":1}`, importer.ReasonNoID},
		{`{"userId":null,"xp":1}`, importer.ReasonNoID},
		{`{"userId":200000000000000001,"xp":1}`, importer.ReasonNumericID},
		{`{"userId":["200000000000000001"],"xp":1}`, importer.ReasonID},
		{`{"userId":"12345","xp":1}`, importer.ReasonID},
		{`{` + u + `}`, importer.ReasonNoXP},
		{`{` + u + `,"xp":null}`, importer.ReasonNoXP},
		{`{` + u + `,"xp":-1}`, importer.ReasonNegative},
		{`{` + u + `,"xp":1e3}`, importer.ReasonExponent},
		{`{` + u + `,"xp":1E-3}`, importer.ReasonExponent},
		{`{` + u + `,"xp":"24,110"}`, importer.ReasonNumber},
		{`{` + u + `,"xp":"NaN"}`, importer.ReasonNumber},
		{`{` + u + `,"xp":true}`, importer.ReasonNumber},
		{`{` + u + `,"xp":{}}`, importer.ReasonNumber},
		{`{` + u + `,"xp":1,"xp":2}`, importer.ReasonDuplicateName},
		{`{` + u + `,"xp":1,"messageCount":-1}`, importer.ReasonMessages},
		{`{` + u + `,"xp":1,"messageCount":[]}`, importer.ReasonMessages},
		{`{` + u + `,"xp":1,"tag":5}`, importer.ReasonShape},
		{`{` + u + `,"xp":1,"tag":"` + "\xff" + `"}`, importer.ReasonUTF8},
		{`5`, importer.ReasonShape},
		{`null`, importer.ReasonShape},
		{`[]`, importer.ReasonShape},
	} {
		w := read(t, importer.Options{}, file("a.json", "{\"levels\":[\n"+c.member+"\n]}"))
		w.skipped(importer.Skip{Line: 2, Row: 1, Reason: c.why})
	}
	w := read(t, importer.Options{From: importer.Arcane}, file("a.json", `{"levels":[{`+u+`,"xp":1}]}`))
	w.skipped(importer.Skip{Line: 1, Row: 1, Reason: importer.ReasonLevel})
}

// An invalid name does not cost the member.
func TestInvalidUserDataIsLeftOut(t *testing.T) {
	w := read(t, importer.Options{}, file("a.json", `{"levels":[{"userId":"`+user(1)+`","xp":1,"level":0,
"tag":"`+strings.Repeat("x", 257)+`","avatar":"https://cdn.example/a.png"},{"userId":"`+user(2)+`","xp":1,"level":0,"tag":"a\u0000b"}]}`))
	w.warns("invalid name or avatar was left out: 2")
	for _, row := range w.order {
		if row.User != nil && (row.User.Username != "" || row.User.Avatar != nil) {
			t.Errorf("the invalid user data is read as %+v, want none", row.User)
		}
	}
}

// An invalid time of the last update does not cost the member.
func TestInvalidTimesAreLeftOut(t *testing.T) {
	w := read(t, importer.Options{}, file("a.json", `{"levels":[{"userId":"`+user(1)+`","xp":1,"level":0,"lastUpdated":"2026-03-10T19:00:11"}]}`))
	w.skipped()
	if len(w.order) != 1 || !w.order[0].LastUpdated.IsZero() {
		t.Errorf("the members are %+v, want one without a time", w.order)
	}
}

// A list without an object around it may have more than ids and XP.
func TestABareListKeepsNamesAndMessages(t *testing.T) {
	w := read(t, importer.Options{}, file("a.json", `[{"id":"`+user(1)+`","name":"old_lantern#4410","xp":24110,"messages":7},{"id":"`+user(2)+`","xp":5}]`))
	if len(w.order) != 2 || w.order[0].User == nil || w.order[0].User.Username != "old_lantern" || w.order[0].User.Discriminator != "4410" || *w.order[0].MessageCount != 7 {
		t.Errorf("the members are %+v, want two, the first with its name and 7 messages", w.order)
	}
	if w.order[1].User != nil || w.order[1].MessageCount != nil {
		t.Errorf("the second member is %+v, want no user data or messages", w.order[1])
	}
}

func TestUnknownFilesAreRefused(t *testing.T) {
	member := `{"userId":"` + user(1) + `","xp":1}`
	for _, c := range []struct{ content, message string }{
		{"", "empty"},
		{" \n\t", "empty"},
		{"\ufeff", "empty"},
		{"\xff\xfei\x00d\x00", "UTF-16"},
		{"i\x00d\x00,\x00x\x00p\x00", "UTF-16"},
		{"\x00i\x00d\x00,\x00x\x00p", "UTF-16"},
		{"\x1f\x8b\x08\x00", "compressed"},
		{"PK\x03\x04\x14", "compressed"},
		{"<!doctype html>", "no file that can be imported"},
		{"[]", "no file"},
		{`{"a":1}`, "no file"},
		{`"levels"`, "no file"},
		{`{"levels":[],"players":[]}`, "may be"},
		{`{"levels":[` + member, "a.json:1: the file ends in the middle"},
		{"{\"levels\":[\n" + member + ",\n{\"userId\"", "a.json:3: the file ends in the middle"},
		{"{\"levels\":[\n" + member + ",\nNaN]}", "a.json:3: the file is not JSON"},
		{`{"levels":[` + member + `]}{"levels":[]}`, "something after its value"},
		{`{"levels":[` + member + `],"levels":[]}`, "names levels twice"},
		{`{"levels":{}}`, "levels must be a list"},
		{`{"levels":null}`, "levels must be a list"},
		{`{"users":[],"settings":{}}`, "users must be an object"},
		{`{"levels":[` + strings.Repeat("[", 20000), "not JSON"},
	} {
		if got := refused(t, importer.Options{}, file("a.json", c.content)); !strings.Contains(got, c.message) {
			t.Errorf("the file %.40q is refused with %s, want %q", c.content, got, c.message)
		}
	}
}

func TestFilesOfAnotherSourceAreRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		from importer.From
	}{
		{"lurkr-export.json", importer.MEE6}, {"lurkr-export.json", importer.CSV}, {"auxdibot.csv", importer.Tatsu}, {"polaris.txt", importer.CSV},
	} {
		if got := refused(t, importer.Options{From: c.from}, sample(t, c.name)); !strings.Contains(got, "not like a file of "+string(c.from)) {
			t.Errorf("%s is refused with %s, want that it is not of %s", c.name, got, c.from)
		}
	}
	if w := read(t, importer.Options{From: importer.Polaris}, sample(t, "polaris.csv")); w.Files[0].From != importer.Polaris {
		t.Errorf("the files are %+v, want one of Polaris", w.Files)
	}
}

// A reader may return one byte at a time, as a pipe does.
func TestFilesAreReadInPieces(t *testing.T) {
	for _, name := range []string{"lurkr-export.json", "generic-semicolon-bom.csv", "polaris.txt"} {
		whole := samples(t, name)
		f := sample(t, name)
		open := f.Open
		f.Open = func() (io.ReadCloser, error) {
			r, err := open()
			return io.NopCloser(iotest.OneByteReader(r)), err
		}
		pieces := read(t, importer.Options{}, f)
		if len(pieces.order) != len(whole.order) || len(whole.order) == 0 {
			t.Fatalf("%s has %d members read in pieces and %d at once", name, len(pieces.order), len(whole.order))
		}
		for i, row := range whole.order {
			if got := pieces.order[i]; got.Line != row.Line || got.UserID != row.UserID || got.XP != row.XP {
				t.Errorf("%s read in pieces has %+v, want %+v", name, got, row)
			}
		}
	}
}

func TestReadErrorsAreReturned(t *testing.T) {
	broken := errors.New("broken")
	for _, begin := range []string{"", `{"levels":[`, "id,xp\n", user(1) + " - 5\n"} {
		f := importer.File{Name: "a", Open: func() (io.ReadCloser, error) {
			fill := strings.NewReader(begin + strings.Repeat("\n", 100<<10))
			return io.NopCloser(io.MultiReader(fill, iotest.ErrReader(broken))), nil
		}}
		if _, err := gather(t, importer.Options{}, f); !errors.Is(err, broken) && begin != "" {
			t.Errorf("a read error after %q: %v, want the error", begin, err)
		}
	}
	_, err := gather(t, importer.Options{}, importer.File{Name: "a", Open: func() (io.ReadCloser, error) { return nil, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("an open error: %v, want the error", err)
	}
}

func TestSkipsAreAllCountedAndSomeListed(t *testing.T) {
	w := read(t, importer.Options{}, file("a.json", `[`+repeat(5000, func(int) string { return `{"userId":"5","xp":1}` })+`]`))
	if len(w.Report.Skipped) != importer.MaxSkips || w.SkippedRows() != 5000 {
		t.Errorf("%d skipped rows are listed and %d counted, want %d and 5000", len(w.Report.Skipped), w.SkippedRows(), importer.MaxSkips)
	}
}
