package importer_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// A call stays within what the service takes in members and bytes, and has each member once, in order.
func TestCallsHaveAllMembersWithinBounds(t *testing.T) {
	long := strings.Repeat("\u00fc", 1000)
	w := read(t, importer.Options{}, file("a.json", `{"levels":[`+repeat(2001, func(i int) string {
		return `{"userId":"` + user(i) + `","xp":` + fmt.Sprint(i) + `,"level":0,"messageCount":1,"user":{"username":"a","globalName":"` + long[:4] + `"}}`
	})+`]}`))
	var sizes []int
	next := 0
	for call, err := range w.members.Calls(leaderboard.PutAdd, level.Curve{}, 0) {
		if err != nil || len(call.Body) > 1<<20 || !strings.HasPrefix(string(call.Body), `{"mode":"add","members":[{"userId":"`) || !strings.HasSuffix(string(call.Body), "}]}") {
			t.Fatalf("%v, %d bytes: %.80s", err, len(call.Body), call.Body)
		}
		for _, m := range call.Members {
			if m.User != id.User(user(next)) || int(m.XP) != next {
				t.Fatalf("member %d is %+v", next, m)
			}
			next++
		}
		sizes = append(sizes, len(call.Members))
	}
	if fmt.Sprint(sizes) != "[1000 1000 1]" {
		t.Errorf("the calls have %v members", sizes)
	}
}

func TestThePlanHashTellsOtherCalls(t *testing.T) {
	one, two := file("a.csv", "id,xp\n"+user(1)+",500\n"), file("b.csv", "id,xp\n"+user(2)+",1\n")
	hash := func(lowest level.Level, files ...importer.File) string {
		t.Helper()
		text, err := read(t, importer.Options{}, files...).members.PlanHash(leaderboard.PutAdd, level.Curve{}, lowest)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first := hash(0, one, two)
	if len(first) != 64 || first != hash(0, one, two) || first == hash(0, two, one) || first == hash(1, one, two) {
		t.Errorf("the hash is %s; as before, in another order, with a least level: %s %s %s", first, hash(0, one, two), hash(0, two, one), hash(1, one, two))
	}
}

func TestAnIndexFindsTheMembersOfAnExport(t *testing.T) {
	spools, remove, err := importer.Temporary(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	content := "userId,xp,messageCount,present,username,globalName\n" + user(1) + ",5,7,true,ada,\n" + user(2) + ",0,,false,bob,\"a\n, b\"\n"
	reader := importer.Open([]importer.File{file("a.csv", content)}, importer.Options{})
	index, err := importer.NewIndex(reader.Rows(), spools[0])
	if err != nil {
		t.Fatal(err)
	}
	found, err := index.Lookup(t.Context(), []id.User{id.User(user(2)), id.User(user(3)), id.User(user(1))})
	one, two := found[id.User(user(1))], found[id.User(user(2))]
	if err != nil || len(found) != 2 || one.XP != 5 || one.MessageCount != 7 || !one.Present || one.User.Username != "ada" || two.XP != 0 || two.Present || *two.User.GlobalName != "a\n, b" {
		t.Errorf("found %+v, %v", found, err)
	}
	broken := importer.Open([]importer.File{file("a.csv", content[:len(content)-2])}, importer.Options{})
	if _, err := importer.NewIndex(broken.Rows(), spools[0]); err == nil {
		t.Error("an export with an open quote is indexed")
	}
}

// An error about a file has its name and its reason only once.
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
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A row that was cut off may still be one. An export of Levelboard always ends with a line end; tables of other programs may not.
func TestAnExportThatWasCutOffIsWarnedAbout(t *testing.T) {
	const header = "userId,xp,lastUpdated,present\n"
	read(t, importer.Options{}, file("a.csv", header+user(1)+",24110,,true")).warns("not complete")
	read(t, importer.Options{}, file("a.csv", header+user(1)+",24110,,true\n")).warns()
	read(t, importer.Options{}, file("a.csv", "id,xp\n"+user(1)+",24110")).warns()
}
