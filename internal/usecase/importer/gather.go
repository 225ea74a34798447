package importer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// Members are the members of an import, each once. They can be read repeatedly, by one caller at a time.
type Members struct {
	spool io.ReadSeeker
	best  map[uint64]best
	shown shownLevel
}

// best is the row that counts for a member.
type best struct {
	xp  uint32
	row uint32 // its position in the spool
}

// errTooMany says that the files have more rows than Gather can count.
var errTooMany = errors.New("the files have more than 4294967295 rows")

// Gather reads all rows into the spool, and keeps in memory which of them count: for each member the
// row with the most XP, and of equal ones the first. The spool must be empty; the caller removes it.
func Gather(ctx context.Context, r *Reader, spool io.ReadWriteSeeker) (*Members, error) {
	m := &Members{spool: spool, best: make(map[uint64]best)}
	out := bufio.NewWriterSize(spool, 64<<10)
	count := uint64(0)
	for row, err := range r.Rows() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if count == 1<<32-1 {
			return nil, errTooMany
		}
		user := number64(row.UserID)
		had, twice := m.best[user]
		if twice {
			r.report.Duplicates++
		}
		if !twice || uint32(row.XP) > had.xp {
			m.best[user] = best{uint32(row.XP), uint32(count)}
		}
		count++
		line, err := json.Marshal(row)
		if err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		if err != nil {
			return nil, fmt.Errorf("spool a member: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("spool members: %w", err)
	}
	m.shown = r.shown
	return m, nil
}

// number64 returns a user's id as a number; 19 digits fit.
func number64(user id.User) uint64 {
	n, _ := strconv.ParseUint(string(user), 10, 64)
	return n
}

// count returns the number of members of all levels.
func (m *Members) count() int { return len(m.best) }

// rows returns the members with at least the level lowest by the curve, in the order of the files.
func (m *Members) rows(curve level.Curve, lowest level.Level) iter.Seq2[Row, error] {
	least := curve.XPFor(lowest)
	return func(yield func(Row, error) bool) {
		for row, err := range m.all() {
			if err == nil && row.XP < least {
				continue
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func (m *Members) all() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if _, err := m.spool.Seek(0, io.SeekStart); err != nil {
			yield(Row{}, fmt.Errorf("read the spool: %w", err))
			return
		}
		dec := jsontext.NewDecoder(bufio.NewReaderSize(m.spool, 64<<10))
		for place := uint32(0); ; place++ {
			var row Row
			if err := json.UnmarshalDecode(dec, &row); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				yield(Row{}, fmt.Errorf("read the spool: %w", err))
				return
			}
			if row.Shown == noLevel && m.shown != nil {
				row.Shown = m.shown(row.Given)
			}
			if m.best[number64(row.UserID)].row == place && !yield(row, nil) {
				return
			}
		}
	}
}

// Temporary creates a file in a folder, "" for the system's. remove deletes it. Where the system allows it, it also disappears with the process.
func Temporary(dir string) (file *os.File, remove func(), err error) {
	file, err = os.CreateTemp(dir, "levelboard-import-*")
	if err != nil {
		return nil, nil, fmt.Errorf("a temporary file cannot be made: %w", err)
	}
	_ = os.Remove(file.Name())
	return file, func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}, nil
}
