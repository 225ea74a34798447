package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"

	"levelboard/internal/domain/id"
)

// Reader reads the members of several files as one import. It is not safe for concurrent use.
type Reader struct {
	files  []File
	o      Options
	report Report
	// shown returns the level that a source shows for XP, if the file has settings that determine it; else it is nil.
	shown shownLevel
	kinds map[*kind]int // number of files of each kind
	pages []page        // of MEE6
	// amariTotal is how many members Amari's files say that there are; amariRead is how many they have.
	amariTotal, amariRead int
}

// Open returns a reader of files. It reads nothing yet.
func Open(files []File, o Options) *Reader {
	if o.From == "" {
		o.From = Auto
	}
	return &Reader{files: files, o: o, report: Report{Reasons: make(map[Reason]int)}, kinds: make(map[*kind]int)}
}

// Report returns the findings so far. It is complete when Rows has ended without an error.
func (r *Reader) Report() Report {
	report := r.report
	report.Reasons = maps.Clone(report.Reasons)
	return report
}

var errStopped = errors.New("the caller has enough rows")

// Rows reads the files once, and returns their members in order, duplicates included. It ends after the first
// error, which means that nothing should be imported. The error is a *FileError, unless a file could not be opened.
func (r *Reader) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		err := r.read(func(row Row) error {
			if !yield(row, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Row{}, err)
		}
	}
}

func (r *Reader) read(yield func(Row) error) error {
	for _, file := range r.files {
		if err := r.readFile(file, yield); err != nil {
			return err
		}
	}
	return r.judge()
}

func (r *Reader) readFile(file File, yield func(Row) error) error {
	opened, err := file.Open()
	if err != nil {
		if errors.As(err, new(*fs.PathError)) { // the error names the file
			return err
		}
		return fmt.Errorf("open %s: %w", file.Name, err)
	}
	defer opened.Close()
	f := &fileReader{Reader: r, index: len(r.report.Files), yield: yield}
	r.report.Files = append(r.report.Files, FileReport{Name: file.Name})
	content := bufio.NewReaderSize(opened, maxPeek)
	prefix, err := content.Peek(maxPeek)
	if err != nil && !errors.Is(err, io.EOF) {
		return f.fail(0, "the file cannot be read", err)
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(prefix, mark) {
		prefix = prefix[len(mark):]
		if _, err := content.Discard(len(mark)); err != nil {
			return f.fail(0, "the file cannot be read", err)
		}
	}
	k, err := f.recognise(prefix)
	if err != nil {
		return err
	}
	r.kinds[k]++
	f.found().From, f.found().What = k.source(r.o.From), k.what
	if err := k.read(f, content, prefix); err != nil {
		return err
	}
	f.end()
	return nil
}

// judge adds the warnings that need all files.
func (r *Reader) judge() error {
	weekly := r.kinds[amariWeekly]
	if weekly > 0 {
		if weekly+r.kinds[amariRewards] == len(r.files) {
			return &FileError{File: r.files[0].Name, Message: "this is Amari's weekly leaderboard: its XP is that of one week; " +
				"get the leaderboard that is not weekly"}
		}
		r.report.warn("Amari's weekly leaderboard was skipped, since its XP is that of one week.")
	}
	r.judgePages()
	r.judgeAmari()
	r.report.Proposal.fitRewards()
	return nil
}

// fileReader reads one file.
type fileReader struct {
	*Reader
	index     int
	yield     func(Row) error
	seen      int        // number of members, skipped ones included
	guilds    []id.Guild // other guilds that the file names
	unfit     int        // number of members whose user data was left out
	roundIDs  int        // number of ids that end in 000
	misfits   int        // members whose level does not fit their XP; for Lurkr only
	prestiges int        // members with a prestige; for LevelUp only
}

func (f *fileReader) found() *FileReport { return &f.report.Files[f.index] }

func (f *fileReader) fail(line int, message string, cause error) error {
	if said := (*FileError)(nil); errors.As(cause, &said) {
		return said
	}
	return &FileError{File: f.found().Name, Line: line, Message: message, Cause: cause}
}

func (f *fileReader) skip(line int, why Reason) error {
	f.seen++
	f.report.skip(Skip{File: f.index, Line: line, Row: f.seen, Reason: why})
	return nil
}

// emit passes a row on, or skips it if why is set.
func (f *fileReader) emit(line int, row Row, why Reason) error {
	if why != "" {
		return f.skip(line, why)
	}
	f.seen++
	row.File, row.Line = f.index, line
	f.found().Rows++
	f.report.Rows++
	if strings.HasSuffix(string(row.UserID), "000") {
		f.roundIDs++
	}
	return f.yield(row)
}

// about notes the guild that a file belongs to.
func (f *fileReader) about(g id.Guild) {
	if g != f.o.Guild && g != f.o.SourceGuild && id.Valid(string(g)) && f.o.Guild != "" && len(f.guilds) < 3 && !slices.Contains(f.guilds, g) {
		f.guilds = append(f.guilds, g)
	}
}

// end adds the warnings that need the whole file.
func (f *fileReader) end() {
	name := f.found().Name
	for _, g := range f.guilds {
		f.report.warn("%s is about guild %s, not %s.", name, g, f.o.Guild)
	}
	if f.unfit > 0 {
		f.report.warn("%s: members whose invalid name or avatar was left out: %d.", name, f.unfit)
	}
	if f.roundIDs > 1 && f.roundIDs > f.found().Rows/2 {
		f.report.warn("%s: user ids that end in 000: %d. A spreadsheet may have rounded them; get the file again without one.", name, f.roundIDs)
	}
	if f.prestiges > 0 {
		f.report.warn("%s: members with a prestige, so that their XP counts only since then: %d.", name, f.prestiges)
	}
}
