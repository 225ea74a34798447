package importer_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

func TestThePlanHashDependsOnTheCalls(t *testing.T) {
	one, two := file("a.csv", "id,xp\n"+user(1)+",500\n"), file("b.csv", "id,xp\n"+user(2)+",1\n")
	hash := func(by string, lowest level.Level, files ...importer.File) string {
		t.Helper()
		text, err := importer.PlanHash(t.Context(), read(t, importer.Options{}, files...).members, by, lowest)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first := hash("a", 0, one, two)
	if len(first) != 64 || first != hash("a", 0, one, two) {
		t.Errorf("the hash is %s, then %s, want the same 64 characters", first, hash("a", 0, one, two))
	}
	for what, other := range map[string]string{
		"another order": hash("a", 0, two, one), "a minimum level": hash("a", 1, one, two), "another start": hash("b", 0, one, two),
	} {
		if other == first {
			t.Errorf("%s has the same hash", what)
		}
	}
}

func TestAnIndexNeedsAWholeExport(t *testing.T) {
	content := "userId,xp,messageCount,present,username,globalName\n" + user(1) + ",5,7,true,ada,\n" + user(2) + ",0,,false,bob,\"a\n, b\"\n"
	w := read(t, importer.Options{}, file("a.csv", content))
	index, err := importer.NewIndex(t.Context(), importer.Open([]importer.File{file("a.csv", content)}, importer.Options{}).Rows())
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: leaderboard.PutSet, There: index})
	if err != nil || p.Unchanged != 2 {
		t.Errorf("the plan is %+v (%v), want two unchanged members", p, err)
	}
	broken := importer.Open([]importer.File{file("a.csv", content[:len(content)-2])}, importer.Options{})
	if _, err := importer.NewIndex(t.Context(), broken.Rows()); err == nil {
		t.Error("an export with an open quote was indexed")
	}
}

// An error about a file names the file and the reason once.
func TestErrorsNameAFileOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.csv")
	for want, open := range map[string]func() (io.ReadCloser, error){
		"open " + name + ": " + fs.ErrNotExist.Error(): func() (io.ReadCloser, error) { return os.Open(name) },
		name + ": it is gone": func() (io.ReadCloser, error) {
			read, write := io.Pipe()
			write.CloseWithError(&importer.FileError{File: name, Cause: errors.New("it is gone")})
			return read, nil
		},
	} {
		got := refused(t, importer.Options{}, importer.File{Name: name, Open: open})
		if got != strings.ReplaceAll(want, fs.ErrNotExist.Error(), "no such file or directory") {
			t.Errorf("the error is %q, want %q", got, want)
		}
	}
}

// A row that was truncated may look complete. Levelboard's exports always end with a line end; other programs' tables may not.
func TestATruncatedExportIsWarnedAbout(t *testing.T) {
	const header = "userId,xp,lastUpdated,present\n"
	read(t, importer.Options{}, file("a.csv", header+user(1)+",24110,,true")).warns("not complete")
	read(t, importer.Options{}, file("a.csv", header+user(1)+",24110,,true\n")).warns()
	read(t, importer.Options{}, file("a.csv", "id,xp\n"+user(1)+",24110")).warns()
}
