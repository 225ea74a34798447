// Package queue keeps what a bot has yet to send, in order for each guild, on disk. A batch is one file and one request: its content never
// changes once it was handed out, so that it can be sent again under its name after a lost answer or a kill. What was added since the last
// Flush is in memory only. Files are not synced: they survive the death of the process, not of the machine.
package queue

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A batch is full with so many items, or bytes: a request may have 1,000 messages and 1 MiB.
const (
	batchItems = 500
	batchBytes = 900 << 10
)

// Queue is a queue on disk. Goroutines may share it.
type Queue struct {
	dir   string
	limit int

	mu      sync.Mutex
	guilds  map[string][]*file // oldest first
	last    int                // the number of the newest file
	items   int                // all that are queued
	dropped int
}

// file is a batch that is written, or waits to be.
type file struct {
	number            int
	guild, kind, name string
	items, bytes      int
	waiting           []byte // what Flush has yet to write
	sealed            bool   // it was handed out, or is from an earlier run: nothing may be added
	sending           bool
}

// Batch is items of one kind of one guild. Name is the same at each try, also after a restart, and no other batch has it.
type Batch struct {
	Guild, Kind, Name string
	Items             [][]byte

	file *file
}

// Open opens the queue in a directory, which it makes if need be. Beyond limit items, the oldest batches are dropped.
func Open(dir string, limit int) (*Queue, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the queue's directory: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the queue's directory: %w", err)
	}
	q := &Queue{dir: dir, limit: limit, guilds: map[string][]*file{}}
	for _, entry := range entries { // by name, so by number
		parts := strings.Split(entry.Name(), "-")
		number, err := strconv.Atoi(parts[0])
		if err != nil || len(parts) != 4 {
			continue
		}
		f := &file{number: number, guild: parts[1], kind: parts[2], name: entry.Name(), sealed: true}
		content, err := os.ReadFile(filepath.Join(dir, f.name))
		if err != nil {
			return nil, fmt.Errorf("read the queue: %w", err)
		}
		f.items = bytes.Count(content, []byte{'\n'})
		q.guilds[f.guild] = append(q.guilds[f.guild], f)
		q.last, q.items = max(q.last, number), q.items+f.items
	}
	return q, nil
}

// Add adds an item, which holds no line break. It is written by the next Flush.
func (q *Queue) Add(guild, kind string, item []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	files := q.guilds[guild]
	var f *file
	if len(files) > 0 {
		f = files[len(files)-1]
	}
	if f == nil || f.sealed || f.kind != kind || f.items >= batchItems || f.bytes+len(item) > batchBytes {
		q.last++
		f = &file{number: q.last, guild: guild, kind: kind, name: fmt.Sprintf("%012d-%s-%s-%s", q.last, guild, kind, rand.Text()[:16])}
		q.guilds[guild] = append(files, f)
	}
	f.waiting = append(append(f.waiting, item...), '\n')
	f.items, f.bytes, q.items = f.items+1, f.bytes+len(item)+1, q.items+1
}

// Flush writes what was added. It returns how many items were dropped since the last call because the queue was full.
func (q *Queue) Flush() (dropped int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.items > q.limit && q.dropOldest() {
	}
	for _, files := range q.guilds {
		for _, f := range files {
			if len(f.waiting) > 0 {
				err = errors.Join(err, q.write(f))
			}
		}
	}
	dropped, q.dropped = q.dropped, 0
	return dropped, err
}

func (q *Queue) write(f *file) error {
	out, err := os.OpenFile(filepath.Join(q.dir, f.name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := out.Write(f.waiting)
	f.waiting = f.waiting[n:]
	if len(f.waiting) == 0 {
		f.waiting = nil
	}
	return errors.Join(err, out.Close())
}

// dropOldest drops the oldest batch that is not being sent. q.mu is held.
func (q *Queue) dropOldest() bool {
	var oldest *file
	for _, files := range q.guilds {
		for _, f := range files {
			if !f.sending {
				if oldest == nil || f.number < oldest.number {
					oldest = f
				}
				break
			}
		}
	}
	if oldest == nil {
		return false
	}
	q.dropped += oldest.items
	_ = q.remove(oldest)
	return true
}

// Next returns the oldest batch of a guild that is on disk, or false. Until Done it returns the same one.
func (q *Queue) Next(guild string) (Batch, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	files := q.guilds[guild]
	if len(files) == 0 || len(files[0].waiting) > 0 {
		return Batch{}, false, nil
	}
	f := files[0]
	content, err := os.ReadFile(filepath.Join(q.dir, f.name))
	if err != nil {
		return Batch{}, false, err
	}
	f.sealed, f.sending = true, true
	b := Batch{Guild: guild, Kind: f.kind, Name: f.name, file: f}
	for line := range bytes.Lines(content) {
		if whole, ok := bytes.CutSuffix(line, []byte{'\n'}); ok { // a kill may have cut the last one off
			b.Items = append(b.Items, whole)
		}
	}
	return b, true, nil
}

// Done removes a batch that was sent, or that nobody will ever take.
func (q *Queue) Done(b Batch) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.remove(b.file)
}

func (q *Queue) remove(f *file) error {
	files := q.guilds[f.guild]
	i := slices.Index(files, f)
	if i < 0 {
		return nil // it was dropped meanwhile
	}
	q.items -= f.items
	if files = slices.Delete(files, i, i+1); len(files) == 0 {
		delete(q.guilds, f.guild)
	} else {
		q.guilds[f.guild] = files
	}
	if err := os.Remove(filepath.Join(q.dir, f.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Len returns how many items are queued.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.items
}

// Empty reports whether nothing is queued for a guild.
func (q *Queue) Empty(guild string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.guilds[guild]) == 0
}

// Guilds returns the guilds for which something is queued.
func (q *Queue) Guilds() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	guilds := make([]string, 0, len(q.guilds))
	for guild := range q.guilds {
		guilds = append(guilds, guild)
	}
	return guilds
}
