package sqlarchive

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/hydrate"
)

// userHashes returns the keyed hash of each user, as erasures has it. The secret is made with its table: every replica needs it, for as long as
// the table lasts.
func (c *Catalog) userHashes(ctx context.Context, users ...id.User) ([]string, error) {
	secret, err := one(ctx, c, "read_erasure_secret", scanValue[[]byte], `SELECT secret FROM erasure_secret`)
	if err != nil {
		return nil, err
	}
	hashes := make([]string, len(users))
	for i, user := range users {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(user))
		hashes[i] = hex.EncodeToString(mac.Sum(nil))
	}
	return hashes, nil
}

// BeginErasure implements erasure.Archive.
func (c *Catalog) BeginErasure(ctx context.Context, user id.User) error {
	return c.changeErasure(ctx, "begin_erasure", user, `INSERT INTO erasures (hash, user_id) VALUES ($1, $2)
		ON CONFLICT (hash) DO UPDATE SET user_id = excluded.user_id, erased_ms = NULL`, string(user))
}

// NoteSearched implements erasure.Archive.
func (c *Catalog) NoteSearched(ctx context.Context, user id.User, at time.Time) error {
	return c.changeErasure(ctx, "note_erasure", user, `UPDATE erasures SET erased_ms = $2 WHERE hash = $1 AND user_id IS NOT NULL`, at.UnixMilli())
}

// EndErasure implements erasure.Archive.
func (c *Catalog) EndErasure(ctx context.Context, o erasure.Open) error {
	return c.changeErasure(ctx, "end_erasure", o.User, `UPDATE erasures SET user_id = NULL WHERE hash = $1 AND erased_ms = $2`, o.At.UnixMilli())
}

// changeErasure runs a statement on the user's hash, $1.
func (c *Catalog) changeErasure(ctx context.Context, operation string, user id.User, statement string, args ...any) error {
	hashes, err := c.userHashes(ctx, user)
	if err != nil {
		return err
	}
	return c.run(ctx, operation, statement, append([]any{hashes[0]}, args...)...)
}

// OpenErasures implements erasure.Archive.
func (c *Catalog) OpenErasures(ctx context.Context, limit int) ([]erasure.Open, error) {
	return list(ctx, c, "list_erasures", columns(func(o *erasure.Open) []any { return []any{&o.User, millis{&o.At}} }),
		`SELECT user_id, erased_ms FROM erasures WHERE user_id IS NOT NULL ORDER BY number LIMIT $1`, limit)
}

// HasErasures implements erasure.Archive.
func (c *Catalog) HasErasures(ctx context.Context) (bool, error) {
	return one(ctx, c, "find_erasures", scanValue[bool], `SELECT EXISTS (SELECT 1 FROM erasures)`)
}

// Erased implements hydrate.Archive.
func (c *Catalog) Erased(ctx context.Context, users []id.User) (map[id.User]hydrate.Erasure, error) {
	if len(users) == 0 {
		return nil, nil
	}
	hashes, err := c.userHashes(ctx, users...)
	if err != nil {
		return nil, err
	}
	type line struct {
		hash       string
		at, number int64
	}
	lines, err := list(ctx, c, "read_erasures", columns(func(l *line) []any { return []any{&l.hash, &l.at, &l.number} }),
		`SELECT hash, coalesce(erased_ms, $2), number FROM erasures WHERE hash IN (SELECT value ->> 0 FROM jsonb_each($1))`, jsonList(hashes), int64(math.MaxInt64>>20))
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	found := map[string]hydrate.Erasure{}
	for _, l := range lines {
		found[l.hash] = hydrate.Erasure{Until: time.UnixMilli(l.at), As: erasedAs + strconv.FormatInt(l.number, 10)}
	}
	erased := map[id.User]hydrate.Erasure{}
	for i, user := range users {
		if e, ok := found[hashes[i]]; ok {
			erased[user] = e
		}
	}
	return erased, nil
}

// erasedAs is the prefix of the name of an erased user in the audit log.
const erasedAs = "erased-"

// EraseKeys implements erasure.Archive. EraseRows needs the history of the keys, to know them in the audit log.
func (c *Catalog) EraseKeys(ctx context.Context, user id.User) (keys []string, err error) {
	err = c.inChange(ctx, "erase_keys", func(t *tx) {
		keys = readAll(t, scanValue[string], `SELECT id FROM api_keys WHERE owner_id = $1 ORDER BY id`, string(user))
		for _, key := range keys {
			t.revoke(key, apikey.Operator)
		}
	})
	return keys, err
}

// mentionsAtOnce bounds what is in memory of records of the audit log that name a user in their text.
const mentionsAtOnce = 500

// mention is a record of the audit log by its texts.
type mention struct {
	log, millis, number   int64
	before, after, reason string
}

// eraseMentions puts another name in place of a user in the texts of the next records after m, which becomes the last of them.
func (t *tx) eraseMentions(user id.User, as string, m *mention) (more bool) {
	found := readAll(t, columns(func(m *mention) []any { return []any{&m.log, &m.millis, &m.number, &m.before, &m.after, &m.reason} }), `
		SELECT log, at_ms, number, before, after, reason FROM audit
		WHERE (reason <> '' OR action IN ('settings', 'directory'))
			AND (before LIKE '%' || $1 || '%' OR after LIKE '%' || $1 || '%' OR reason LIKE '%' || $1 || '%')
			AND (log + 0, at_ms, number) > ($2, $3, $4) ORDER BY log + 0, at_ms, number LIMIT $5`,
		string(user), m.log, m.millis, m.number, mentionsAtOnce)
	name := func(in id.User) string {
		if in == user {
			return as
		}
		return string(in)
	}
	for _, *m = range found {
		t.exec(`UPDATE audit SET before = $4, after = $5, reason = $6 WHERE log = $1 AND at_ms = $2 AND number = $3`,
			m.log, m.millis, m.number, audit.RenameValue(m.before, name), audit.RenameValue(m.after, name), audit.Rename(m.reason, name))
	}
	return len(found) == mentionsAtOnce && t.err == nil
}
