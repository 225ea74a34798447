package redisstore

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"levelboard/internal/store/redisconn"
)

// Client returns the store's client.
func (s *Store) Client() *redisconn.Client { return s.client }

// ScriptNames returns the names of all scripts.
func ScriptNames(t *testing.T) (names []string) {
	files, err := fs.Glob(scriptFiles, "*.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file, ".lua"))
	}
	return names
}

// RefusalWords returns the words with which scripts refuse.
func RefusalWords() (words []string) {
	for word := range refusals {
		words = append(words, string(word))
	}
	return words
}

// FlushChanged adds the changed guilds to the index now.
func (s *Store) FlushChanged(ctx context.Context) error { return s.changed.Flush(ctx) }
