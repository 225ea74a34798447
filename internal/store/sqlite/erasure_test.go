package sqlite_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/testing/sqlitetest"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// No byte of the files names an erased user, neither in free pages nor in the log.
func TestAnErasureLeavesNothingInTheFiles(t *testing.T) {
	const user, name = "123456789012345678", "zebedeezz"
	dir := t.TempDir()
	a := sqlitetest.OpenAt(t, filepath.Join(dir, "archive.db"))
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	in := func(text string) (files []string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		ok(err)
		for _, e := range entries {
			content, err := os.ReadFile(filepath.Join(dir, e.Name()))
			ok(err)
			if bytes.Contains(content, []byte(text)) {
				files = append(files, e.Name())
			}
		}
		return files
	}
	settings, err := guild.Parse("100000000000000001", []byte(`{"name":"g","memberCount":1,"ownerId":"100000000000000007"}`))
	ok(err)
	g, _, err := a.PutGuild(t.Context(), settings)
	ok(err)
	ref := leaderboard.GuildRef{ID: g.ID, Incarnation: g.Incarnation}
	l, err := a.AcquireLease(t.Context(), "writer", time.Hour, false)
	ok(err)
	long := time.UnixMilli(1700000000000)
	rows := make([]snapshot.Row, 500)
	for i := range rows { // enough to make free pages
		rows[i].UserID, rows[i].LastUpdated = id.User(fmt.Sprint(200000000000000000+i)), long
		rows[i].User.Username = strings.Repeat("x", 30)
	}
	rows[0].UserID, rows[0].User.Username = user, name
	ok(snapshot.WriteBatch(t.Context(), a, l, snapshot.Batch{Guild: ref, Rev: 1, Rows: rows}))
	_, err = a.CreateCheckpoint(t.Context(), ref, "kept", false)
	ok(err)
	ok(a.BeginErasure(t.Context(), user))
	if len(in(user)) == 0 || len(in(name)) == 0 {
		t.Fatalf("before the erasure the id is in %v and the name in %v, want both", in(user), in(name))
	}
	gone := make([]snapshot.Row, len(rows))
	for i := range gone {
		gone[i] = snapshot.Row{Deleted: true, Member: leaderboard.Member{UserID: rows[i].UserID}}
	}
	ok(snapshot.WriteBatch(t.Context(), a, l, snapshot.Batch{Guild: ref, Rev: 2, Known: 1, Rows: gone}))
	o := erasure.Open{User: user, At: time.UnixMilli(1800000000000)}
	ok(a.NoteSearched(t.Context(), user, o.At))
	if all, err := a.EraseRows(t.Context(), o); err != nil || !all {
		t.Fatalf("erasing the rows: all %v (%v), want true", all, err)
	}
	ok(a.EndErasure(t.Context(), o))
	if len(in(user)) > 0 || len(in(name)) > 0 {
		t.Errorf("after the erasure the id is in %v and the name in %v", in(user), in(name))
	}
	if len(in(string(rows[1].UserID))) == 0 {
		t.Error("the erasure removed another user")
	}
}
