package importer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// Members are the members of an import, each once. They can be read any number of times, by one caller at a time.
type Members struct {
	spool io.ReadSeeker
	best  map[uint64]best
	shown shownLevel
}

// best is the row that counts of those that name a member.
type best struct {
	xp  uint32
	row uint32 // its place in the spool
}

// spooled is a row in the spool.
type spooled struct {
	File         int               `json:"f,omitzero"`
	Line         int               `json:"l"`
	UserID       id.User           `json:"u"`
	Given        int64             `json:"x"`
	FromLevel    bool              `json:"o,omitzero"`
	Shown        level.Level       `json:"s"`
	MessageCount *int64            `json:"m,omitzero"`
	User         *leaderboard.User `json:"d,omitzero"`
	Absent       bool              `json:"a,omitzero"`
	Hidden       hidden.Flags      `json:"h,omitzero"`
	LastUpdated  time.Time         `json:"t,omitzero"`
}

// errTooMany says that files have more rows than Gather counts.
var errTooMany = errors.New("the files have more than 4294967295 rows")

// Gather reads all rows into the spool, which is empty and stays the caller's, and keeps in memory which of them count: of a member that
// is there several times the one with the most XP, the first of equal ones.
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
		m.note(&r.report, row, uint32(count))
		count++
		line, err := json.Marshal(spooled{
			row.File, row.Line, row.UserID, row.Given, row.FromLevel, row.Shown, row.MessageCount, row.User, !row.Present, row.Hidden, row.LastUpdated,
		})
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

func (m *Members) note(report *Report, row Row, place uint32) {
	user, _ := strconv.ParseUint(string(row.UserID), 10, 64) // 19 digits fit
	had, twice := m.best[user]
	if twice {
		report.Duplicates++
	}
	if !twice || uint32(row.XP) > had.xp {
		m.best[user] = best{uint32(row.XP), place}
	}
}

// count returns how many members there are, whatever their level.
func (m *Members) count() int { return len(m.best) }

// rows returns the members whose level by the curve is at least lowest, in the order of the files.
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
			var s spooled
			if err := json.UnmarshalDecode(dec, &s); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				yield(Row{}, fmt.Errorf("read the spool: %w", err))
				return
			}
			user, _ := strconv.ParseUint(string(s.UserID), 10, 64)
			if m.best[user].row == place && !yield(m.row(&s), nil) {
				return
			}
		}
	}
}

func (m *Members) row(s *spooled) Row {
	row := Row{
		File: s.File, Line: s.Line, UserID: s.UserID, FromLevel: s.FromLevel, Shown: s.Shown, MessageCount: s.MessageCount, User: s.User,
		Present: !s.Absent, Hidden: s.Hidden, LastUpdated: s.LastUpdated,
	}
	row.gain(s.Given)
	if row.Shown == noLevel && m.shown != nil {
		row.Shown = m.shown(row.Given)
	}
	return row
}
