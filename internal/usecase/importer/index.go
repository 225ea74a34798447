package importer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/id"
)

// Spool is a temporary file.
type Spool interface {
	io.ReadWriteSeeker
	io.ReaderAt
}

// Index finds the members of an export of the guild, for PlanOptions.Lookup. It keeps 16 bytes for each in memory, and the rest in its spool.
type Index struct {
	spool Spool
	at    map[uint64]int64
}

// NewIndex reads all rows, each of another member, into the spool, which is empty and stays the caller's.
func NewIndex(ctx context.Context, rows iter.Seq2[Row, error], spool Spool) (*Index, error) {
	x := &Index{spool: spool, at: make(map[uint64]int64)}
	out, end := bufio.NewWriterSize(spool, 64<<10), int64(0)
	for row, err := range rows {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		now := Current{XP: row.XP, Present: row.Present}
		if row.MessageCount != nil {
			now.MessageCount = *row.MessageCount
		}
		if row.User != nil {
			now.User = *row.User
		}
		line, err := json.Marshal(now)
		if err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		if err != nil {
			return nil, fmt.Errorf("spool a member: %w", err)
		}
		user, _ := strconv.ParseUint(string(row.UserID), 10, 64) // 19 digits fit
		x.at[user] = end
		end += int64(len(line)) + 1
	}
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("spool members: %w", err)
	}
	return x, nil
}

// Lookup is for PlanOptions.
func (x *Index) Lookup(_ context.Context, users []id.User) (map[id.User]Current, error) {
	found := make(map[id.User]Current, len(users))
	for _, user := range users {
		number, _ := strconv.ParseUint(string(user), 10, 64)
		at, ok := x.at[number]
		if !ok {
			continue
		}
		line, err := bufio.NewReader(io.NewSectionReader(x.spool, at, maxValue)).ReadBytes('\n')
		var now Current
		if err == nil {
			err = json.Unmarshal(line, &now)
		}
		if err != nil {
			return nil, fmt.Errorf("read the spool: %w", err)
		}
		found[user] = now
	}
	return found, nil
}
