// Package store keeps what a bot must not forget in one SQLite file: the messages that wait, the ids of the last ones, and a text for each guild.
// What a method has written survives the death of the process. A power failure may lose what came since the system last wrote to disk.
package store

import (
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite" // also the driver
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	batchSize = 150 // messages with 250 roles each fit into a request's 1 MiB
	lastIDs   = 10_000
)

// A message that does not wait any more has no body; only its id is remembered.
const schema = `
CREATE TABLE IF NOT EXISTS message (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, guild TEXT NOT NULL, batch TEXT NOT NULL DEFAULT '', body TEXT);
CREATE INDEX IF NOT EXISTS waiting ON message (guild, n) WHERE body IS NOT NULL;
CREATE INDEX IF NOT EXISTS done ON message (n) WHERE body IS NULL;
CREATE TABLE IF NOT EXISTS guild (id TEXT PRIMARY KEY, state TEXT NOT NULL)`

// Store is an open file. Goroutines may share it.
type Store struct {
	limit int
	db    *sql.DB
}

// Open opens the file bot.db in a directory, which it makes if need be, for this process alone. Trim drops the oldest messages beyond limit.
func Open(dir string, limit int) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	path := filepath.Join(dir, "bot.db")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // SQLite would let others read it
	if err != nil {
		return nil, fmt.Errorf("open the data directory: %w", err)
	}
	_ = file.Close()
	db, err := sql.Open("sqlite", path+"?_pragma=locking_mode(exclusive)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=cache_size(-500)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // so that no two writers meet
	if _, err := db.Exec(schema); err != nil {
		_ = db.Close()
		if failed, ok := errors.AsType[*sqlite.Error](err); ok && failed.Code()&0xff == sqlite3.SQLITE_BUSY {
			return nil, fmt.Errorf("the data directory %s is in use by another levelboard-bot: stop it, or set LEVELBOARD_BOT_DATA", dir)
		}
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Store{limit: limit, db: db}, nil
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// Trim drops the oldest messages beyond the limit and forgets old ids. It returns how many messages wait, and how many were dropped.
func (s *Store) Trim() (waiting, dropped int, err error) {
	if err := s.db.QueryRow("SELECT count(*) FROM message WHERE body IS NOT NULL").Scan(&waiting); err != nil {
		return 0, 0, err
	}
	if waiting > s.limit { // a batch that was handed out stays as it is: it may be counted already
		result, err := s.db.Exec("UPDATE message SET body = NULL WHERE n IN (SELECT n FROM message WHERE body IS NOT NULL AND batch = '' ORDER BY n LIMIT ?)", waiting-s.limit)
		if err != nil {
			return waiting, 0, err
		}
		gone, _ := result.RowsAffected() // SQLite knows it
		waiting, dropped = waiting-int(gone), int(gone)
	}
	_, err = s.db.Exec("DELETE FROM message WHERE body IS NULL AND n <= (SELECT max(n) FROM message) - ?", lastIDs)
	return waiting, dropped, err
}

// Add adds a message of a guild, unless its id is among the last ones.
func (s *Store) Add(guild, id string, body []byte) (isNew bool, err error) {
	result, err := s.db.Exec("INSERT OR IGNORE INTO message (guild, id, body) VALUES (?, ?, ?)", guild, id, string(body))
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}

// Batch is what one request sends. Name is the same at each try, also after a restart, and no other batch has it.
type Batch struct {
	Name     string
	Messages []byte // a JSON list
	Count    int
}

// Next returns the oldest messages of a guild, with a Count of 0 if none wait. Until Done it returns the same ones.
func (s *Store) Next(guild string) (b Batch, err error) {
	err = s.db.QueryRow("SELECT batch FROM message WHERE guild = ? AND body IS NOT NULL ORDER BY n LIMIT 1", guild).Scan(&b.Name)
	if errors.Is(err, sql.ErrNoRows) {
		return b, nil
	}
	if err == nil && b.Name == "" {
		b.Name = rand.Text()
		_, err = s.db.Exec("UPDATE message SET batch = ? WHERE n IN (SELECT n FROM message WHERE guild = ? AND body IS NOT NULL ORDER BY n LIMIT ?)",
			b.Name, guild, batchSize)
	}
	if err != nil {
		return Batch{}, err
	}
	err = s.db.QueryRow("SELECT '[' || group_concat(body, ',' ORDER BY n) || ']', count(*) FROM message WHERE guild = ? AND body IS NOT NULL AND batch = ?",
		guild, b.Name).Scan(&b.Messages, &b.Count)
	return b, err
}

// Done removes a batch that was sent, or that nobody will ever take.
func (s *Store) Done(guild string, b Batch) error {
	_, err := s.db.Exec("UPDATE message SET body = NULL WHERE guild = ? AND body IS NOT NULL AND batch = ?", guild, b.Name)
	return err
}

// Guilds returns the guilds for which messages wait.
func (s *Store) Guilds() ([]string, error) {
	var list string
	err := s.db.QueryRow("SELECT coalesce(group_concat(DISTINCT guild), '') FROM message WHERE body IS NOT NULL").Scan(&list)
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' }), err
}

// State reads what was saved for a guild, if anything was.
func (s *Store) State(guild string, state any) error {
	var text []byte
	if err := s.db.QueryRow("SELECT coalesce((SELECT state FROM guild WHERE id = ?), 'null')", guild).Scan(&text); err != nil {
		return err
	}
	return json.Unmarshal(text, state)
}

// SaveState saves what is to be kept of a guild, as JSON.
func (s *Store) SaveState(guild string, state any) error {
	text, err := json.Marshal(state)
	if err == nil {
		_, err = s.db.Exec("INSERT OR REPLACE INTO guild (id, state) VALUES (?, ?)", guild, string(text))
	}
	return err
}
