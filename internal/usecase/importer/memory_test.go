package importer_test

import (
	"bufio"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"levelboard/internal/usecase/importer"
)

// generated is a file made while it is read: begin, rows with an id for each %s, and end.
type generated struct {
	begin, row, separator, end string
	rows                       int
}

func (g generated) file() importer.File {
	return importer.File{Name: "generated", Open: func() (io.ReadCloser, error) {
		read, write := io.Pipe()
		go func() { write.CloseWithError(g.write(write)) }()
		return read, nil
	}}
}

// write writes the file until its reader closes.
func (g generated) write(to io.Writer) error {
	out := bufio.NewWriterSize(to, 32<<10)
	out.WriteString(g.begin)
	before, after, numbered := strings.Cut(g.row, "%s")
	between := after + g.separator
	for at := range g.rows {
		out.WriteString(before)
		if numbered {
			out.WriteString(strconv.Itoa(2e17 + at))
		}
		if at == g.rows-1 {
			between = after
		}
		if _, err := out.WriteString(between); err != nil {
			return err
		}
	}
	out.WriteString(g.end)
	return out.Flush()
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	// With eight bytes for each row the memory would exceed the bound.
	const many, million, bound = 50_000, 1_000_000, 256 << 10
	for name, g := range map[string]generated{
		"list of objects":    {`{"levels":[`, `{"userId":"%s","xp":5,"level":0,"tag":"somebody","messageCount":1}`, ",", `]}`, many},
		"object of objects":  {`{"users":{`, `"%s":{"xp":5.0,"messages":1}`, ",", `}}`, many},
		"skipped properties": {`{"users":{},"users_weekly":{`, `"%s":{"xp":5.0}`, ",", `}}`, many},
		"table":              {"id,xp,name\n", "%s,5,somebody", "\n", "\n", many},
		"text":               {"", "%s - 5", "\n", "\n", million},
		"bad rows":           {"id,xp\n", "%s,x", "\n", "\n", many},
	} {
		t.Run(name, func(t *testing.T) {
			before, most := allocated(), uint64(0)
			reader := importer.Open([]importer.File{g.file()}, importer.Options{Guild: guild1})
			rows := 0
			for _, err := range reader.Rows() {
				if err != nil {
					t.Fatal(err)
				}
				if rows++; rows%(g.rows/2) == 0 {
					most = max(most, allocated())
				}
			}
			most = max(most, allocated())
			if most > before+bound {
				t.Errorf("reading %d rows holds %d bytes, want at most %d", rows, most-before, bound)
			}
			if report := reader.Report(); name != "skipped properties" && report.Rows+report.SkippedRows() != g.rows {
				t.Errorf("%d rows were read, want %d with the skipped ones", report.Rows, g.rows)
			}
		})
	}
}

// The spool is a file. Only the members' ids are in memory.
func TestGatherHoldsAFewBytesForEachMember(t *testing.T) {
	const many, each = 50_000, 64
	spool, err := os.Create(t.TempDir() + "/spool")
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	before := allocated()
	g := generated{"id,xp,name\n", "%s,5,somebody whose name takes a bit of memory", "\n", "\n", many}
	members, err := importer.Gather(t.Context(), importer.Open([]importer.File{g.file()}, importer.Options{Guild: guild1}), spool)
	if err != nil {
		t.Fatal(err)
	}
	held := allocated() - before
	if members.Count() != many || held > many*each {
		t.Errorf("%d members hold %d bytes, want %d members of at most %d bytes", members.Count(), held, many, each)
	}
	runtime.KeepAlive(members)
}

// A value that does not end is not kept in memory.
func TestAValueThatIsTooLongIsRefused(t *testing.T) {
	const endless = 1 << 30
	for _, c := range []struct{ begin, row, message string }{
		{`{"levels":[{"tag":"`, "%s", "longer than 1 MiB"},
		{`{"levels":[{"tag":[`, `"%s",`, "longer than 1 MiB"},
		{`{"levels":[],"other":"`, "%s", "longer than 1 MiB"},
		{`{"levels":[`, strings.Repeat(" \n", 64), "longer than 1 MiB"},
		{"id,xp\n\"", "%s\n", "longer than 1 MiB"},
		{"id,xp\n", "%s", "longer than 1 MiB"},
		{user(1) + " - 5\n", "%s", "longer than 1 MiB"},
	} {
		before := allocated()
		g := generated{begin: c.begin, row: c.row, rows: endless}
		_, err := gather(t, importer.Options{}, g.file())
		if err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("a long value after %s: %v, want %q", c.begin, err, c.message)
		}
		if after := allocated(); after > before+(1<<20) {
			t.Errorf("a long value after %s took %d bytes, want at most 1 MiB", c.begin, after-before)
		}
	}
}

// Recognizing a file reads its beginning, which may be anything.
func TestRecognisingAFileCostsLittleMemory(t *testing.T) {
	const size = 64 << 10
	long := strings.Repeat("n", 2000)
	for name, content := range map[string]string{
		"deep objects":            strings.Repeat(`{"`+long[:20]+`":`, size/24),
		"deep lists":              strings.Repeat("[", size),
		"many names":              `{"` + long + `":{"` + long + `":{` + numberedNames(size-5000),
		"long names within lists": `[{"` + long + `":[` + strings.Repeat(`{"`+long+`":1},`, 30),
		"a long name":             `{"` + strings.Repeat("n", size),
		"escapes":                 `{"` + strings.Repeat(`\u0041`, size/6),
		"one line":                strings.Repeat(`1 - 2,"";`, size/8),
	} {
		before := totalAllocated()
		_, err := gather(t, importer.Options{}, file("f", content))
		if took := totalAllocated() - before; err == nil || took > 8<<20 {
			t.Errorf("recognizing %s took %d KiB for %d KiB (%v), want an error and at most 8 MiB", name, took>>10, len(content)>>10, err)
		}
	}
}

func numberedNames(size int) string {
	var names strings.Builder
	for n := 0; names.Len() < size; n++ {
		names.WriteString(`"` + strconv.Itoa(n) + `a":0,`)
	}
	return names.String()
}

func totalAllocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
