package importer_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

const (
	guild1 id.Guild = "1092837465019283747" // the guild of most samples
	guild2 id.Guild = "1092837465019283999"
)

// content returns a file of testdata.
func content(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sample returns a file of testdata for an import.
func sample(t testing.TB, name string) importer.File {
	t.Helper()
	return file(name, string(content(t, name)))
}

func file(name, content string) importer.File {
	return importer.File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

// imported is the result of reading files.
type imported struct {
	t testing.TB
	importer.Report
	members *importer.Members
	rows    map[id.User]importer.Row
	order   []importer.Row
}

func gather(t testing.TB, o importer.Options, files ...importer.File) (*imported, error) {
	t.Helper()
	if o.Guild == "" {
		o.Guild = guild1
	}
	reader := importer.Open(files, o)
	members, err := importer.Gather(t.Context(), reader, &memory{})
	w := &imported{t: t, Report: reader.Report(), members: members, rows: make(map[id.User]importer.Row)}
	if err != nil {
		return w, err
	}
	for row, err := range members.Rows(o.Curve, 0) {
		if err != nil {
			t.Fatal(err)
		}
		w.rows[row.UserID] = row
		w.order = append(w.order, row)
	}
	return w, nil
}

func read(t testing.TB, o importer.Options, files ...importer.File) *imported {
	t.Helper()
	w, err := gather(t, o, files...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// samples reads files of testdata with --from auto.
func samples(t testing.TB, names ...string) *imported {
	t.Helper()
	var files []importer.File
	for _, name := range names {
		files = append(files, sample(t, name))
	}
	return read(t, importer.Options{}, files...)
}

// refused returns the error with which files are refused.
func refused(t testing.TB, o importer.Options, files ...importer.File) string {
	t.Helper()
	_, err := gather(t, o, files...)
	if err == nil {
		t.Fatal("the files were imported, want an error")
	}
	return err.Error()
}

func (w *imported) xp(want map[id.User]level.XP) {
	w.t.Helper()
	if len(w.rows) != len(want) {
		w.t.Errorf("%d members were read, want %d", len(w.rows), len(want))
	}
	for user, xp := range want {
		if row, ok := w.rows[user]; !ok || row.XP != xp {
			w.t.Errorf("%s has %d XP (%v), want %d", user, row.XP, ok, xp)
		}
	}
}

func (w *imported) skipped(want ...importer.Skip) {
	w.t.Helper()
	if !slices.Equal(w.Report.Skipped, want) {
		w.t.Errorf("the skipped rows are %v, want %v", w.Report.Skipped, want)
	}
}

// warns fails unless there are these warnings, each with its part.
func (w *imported) warns(parts ...string) {
	w.t.Helper()
	if len(w.Warnings) != len(parts) {
		w.t.Errorf("the warnings are %q, want %d", w.Warnings, len(parts))
		return
	}
	for i, part := range parts {
		if !strings.Contains(w.Warnings[i], part) {
			w.t.Errorf("the warning is %q, want %q in it", w.Warnings[i], part)
		}
	}
}

// plan plans an import into a guild without members.
func (w *imported) plan(curve level.Curve) importer.Plan {
	w.t.Helper()
	p, err := w.members.Plan(w.t.Context(), importer.PlanOptions{
		Mode: leaderboard.PutHigher, Curve: curve,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// memory is a spool in memory.
type memory struct {
	bytes.Buffer
	at int
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	m.at = int(offset)
	return offset, nil
}

func (m *memory) Read(p []byte) (int, error) {
	all := m.Bytes()
	if m.at >= len(all) {
		return 0, io.EOF
	}
	n := copy(p, all[m.at:])
	m.at += n
	return n, nil
}

// user returns the id of user i.
func user(i int) string { return fmt.Sprintf("2%017d", i+1) }

// repeat joins n parts with commas.
func repeat(n int, part func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = part(i)
	}
	return strings.Join(parts, ",")
}
