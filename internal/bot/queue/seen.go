package queue

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// Seen remembers the last ids that it was given, across restarts. Goroutines may share it.
type Seen struct {
	path string
	size int

	mu      sync.Mutex
	ids     map[uint64]bool
	order   []uint64 // oldest first
	waiting []byte   // what Flush has yet to write
	written int      // lines of the file
}

// OpenSeen opens the ids in a file, of which the last size ones count.
func OpenSeen(path string, size int) (*Seen, error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the ids of the last messages: %w", err)
	}
	s := &Seen{path: path, size: size, ids: map[uint64]bool{}}
	for line := range bytes.Lines(content) {
		if id, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 36, 64); err == nil {
			s.add(id)
		}
		s.written++
	}
	s.waiting = nil
	return s, nil
}

// Add remembers an id, a decimal number, and reports whether it was new.
func (s *Seen) Add(id string) bool {
	number, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(number)
}

func (s *Seen) add(id uint64) bool {
	if s.ids[id] {
		return false
	}
	s.ids[id] = true
	s.order = append(s.order, id)
	if len(s.order) > s.size {
		delete(s.ids, s.order[0])
		s.order = s.order[1:]
	}
	s.waiting = line(s.waiting, id)
	return true
}

func line(b []byte, id uint64) []byte { return append(strconv.AppendUint(b, id, 36), '\n') }

// Flush writes what was added. Call it after the Flush of the queue, so that a message is never seen and not queued.
func (s *Seen) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return nil
	}
	if s.written > 4*s.size {
		var all []byte
		for _, id := range s.order {
			all = line(all, id)
		}
		if err := os.WriteFile(s.path+".new", all, 0o600); err != nil {
			return err
		}
		s.written, s.waiting = len(s.order), nil
		return os.Rename(s.path+".new", s.path)
	}
	out, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(s.waiting)
	s.written += bytes.Count(s.waiting, []byte{'\n'})
	s.waiting = nil
	return errors.Join(err, out.Close())
}
