package testenv

import (
	"bytes"
	"strings"
	"sync"
)

// Log is a log that a test reads while it is written.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns everything that was logged.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Has reports whether the log contains s.
func (l *Log) Has(s string) bool { return strings.Contains(l.String(), s) }

// Count returns how often the log contains s.
func (l *Log) Count(s string) int { return strings.Count(l.String(), s) }
