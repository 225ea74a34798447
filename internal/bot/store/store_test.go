package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/bot/store"
)

func open(t *testing.T, dir string, limit int) *store.Store {
	t.Helper()
	s, err := store.Open(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func add(t *testing.T, s *store.Store, guild string, ids ...int) {
	t.Helper()
	for _, id := range ids {
		if isNew, err := s.Add(guild, fmt.Sprint(id), fmt.Append(nil, id)); err != nil || !isNew {
			t.Fatalf("%d: new is %t, %v", id, isNew, err)
		}
	}
}

func next(t *testing.T, s *store.Store) store.Batch {
	t.Helper()
	b, err := s.Next("1")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func waiting(t *testing.T, s *store.Store) (waiting, dropped int) {
	t.Helper()
	waiting, dropped, err := s.Trim()
	if err != nil {
		t.Fatal(err)
	}
	return waiting, dropped
}

func TestABatchIsTheSameAfterARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 100)
	add(t, s, "1", 1)
	first := next(t, s)
	add(t, s, "1", 2) // after the batch was handed out
	add(t, s, "2", 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, 100)
	if again := next(t, s); again.Name != first.Name || string(again.Messages) != "[1]" || again.Count != 1 {
		t.Errorf("after a restart the batch is %+v, was %+v", again, first)
	}
	if err := s.Done("1", first); err != nil {
		t.Fatal(err)
	}
	if b := next(t, s); string(b.Messages) != "[2]" || b.Name == first.Name {
		t.Errorf("then comes %s", b.Messages)
	}
	if guilds, err := s.Guilds(); err != nil || strings.Join(guilds, " ") != "1 2" {
		t.Errorf("messages wait for the guilds %q (%v)", guilds, err)
	}
}

func TestBatchesAreBoundedAndInOrder(t *testing.T) {
	s := open(t, t.TempDir(), 1000)
	for n := range 200 {
		add(t, s, "1", n)
	}
	first := next(t, s)
	if !strings.HasPrefix(string(first.Messages), "[0,1,2,") || first.Count != 150 {
		t.Errorf("the first batch has %d messages: %s", first.Count, first.Messages)
	}
	if err := s.Done("1", first); err != nil {
		t.Fatal(err)
	}
	if b := next(t, s); b.Count != 50 || !strings.HasSuffix(string(b.Messages), ",199]") {
		t.Errorf("the second batch has %d messages: %s", b.Count, b.Messages)
	}
}

// TestTheOldestAreDropped: beyond the limit the oldest messages go, but for a batch that may be counted already.
func TestTheOldestAreDropped(t *testing.T) {
	s := open(t, t.TempDir(), 1000)
	add(t, s, "1", 1, 2, 3)
	inDoubt := next(t, s)
	for n := range 3000 {
		add(t, s, fmt.Sprint(2+n/1000), 10+n)
	}
	if waiting, dropped := waiting(t, s); waiting != 1000 || dropped != 2003 {
		t.Errorf("%d were dropped, %d wait", dropped, waiting)
	}
	if b := next(t, s); b.Name != inDoubt.Name || b.Count != 3 {
		t.Errorf("the batch that was handed out is %+v", b)
	}
	if b, err := s.Next("4"); err != nil || !strings.HasPrefix(string(b.Messages), "[2013,2014,") {
		t.Errorf("the oldest of those that are left are %.40s (%v)", b.Messages, err)
	}
}

func TestTheLastMessagesAreKnown(t *testing.T) {
	const last = 10_000
	dir := t.TempDir()
	s := open(t, dir, 100_000)
	for n := range last + 100 {
		add(t, s, "1", n)
	}
	if isNew, err := s.Add("1", "0", nil); isNew || err != nil { // it waits
		t.Fatal(err)
	}
	for b := next(t, s); b.Count > 0; b = next(t, s) {
		if err := s.Done("1", b); err != nil {
			t.Fatal(err)
		}
	}
	waiting(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, 100_000)
	if isNew, err := s.Add("1", fmt.Sprint(100), nil); isNew || err != nil {
		t.Errorf("the oldest of the last %d is not known (%v)", last, err)
	}
	add(t, s, "1", 99)
}

func TestTheFileIsForOneProcessAndItsUser(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 100)
	if _, err := store.Open(dir, 100); err == nil || !strings.Contains(err.Error(), "in use by another levelboard-bot") {
		t.Errorf("a second one ends with %v", err)
	}
	if err := s.SaveState("1", "a key"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 2 {
		t.Errorf("the files are %q (%v)", files, err)
	}
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v (%v)", path, info.Mode(), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, 100)
	var one, other string
	if err := errors.Join(s.State("1", &one), s.State("2", &other)); one != "a key" || other != "" || err != nil {
		t.Errorf("the state is %q, that of another guild %q (%v)", one, other, err)
	}
}
