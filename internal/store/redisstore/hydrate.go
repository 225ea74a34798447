package redisstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var (
	beginHydrationScript  = newScript("begin_hydration")
	unsavedScript         = newScript("unsaved", "locked", "values", "rows")
	verifiedScript        = newScript("verified", "locked")
	loadChunkScript       = newScript("load_chunk", "locked")
	commitHydrationScript = newScript("commit_hydration", "locked", "now")
	abortHydrationScript  = newScript("abort_hydration")
	dropScript            = newScript("drop")
)

const (
	// hydrationLock is how long a hydration's lock lasts without a chunk: long enough for a slow read of the archive, short enough that a guild
	// whose replica died is soon loaded.
	hydrationLock = 10 * time.Second
	// stagingTTL is how long the staging keys of a dead hydration stay. It is longer than the lock lasts, so that a hydration that still holds
	// its lock has all that it loaded.
	stagingTTL = 5 * time.Minute
	// chunkRows is how many rows one script loads or reads. A script of that size blocks a busy server for two or three milliseconds.
	chunkRows = 250
	// away is how far absent members stand below their gains on boards of periods (prelude/boards.lua).
	away = 1 << 52
)

// found maps the answers of begin_hydration.lua.
var found = []hydrate.Found{
	hydrate.FoundNothing, hydrate.FoundLoaded, hydrate.FoundBusy,
	hydrate.FoundUnverified, hydrate.FoundOlder, hydrate.FoundNewer, hydrate.FoundOtherFormat,
}

// BeginHydration implements hydrate.Live. The lock is lost 10 seconds after it was taken or a chunk was loaded or read.
func (s *Store) BeginHydration(ctx context.Context, g leaderboard.GuildRef, archived snapshot.State) (hydrate.Lock, hydrate.Found, error) {
	h := newHydration(g)
	k := keysOf(g.ID)
	r, err := s.run(ctx, beginHydrationScript, []string{k.meta(), k.lock()},
		int64(g.Incarnation), h.Token, hydrationLock.Milliseconds(), archived.Epoch, archived.Archived, archived.Verified)
	if err != nil {
		return h, 0, err
	}
	is := oneOf(found, r.of("found"))
	if is == hydrate.FoundUnverified {
		h.Rev = r.of("rev").number()
	}
	return h, is, r.done("begin hydration")
}

// Unsaved implements hydrate.Live.
func (s *Store) Unsaved(ctx context.Context, h hydrate.Lock, each func(snapshot.Batch) error) error {
	for from := "-"; from != ""; {
		batch, err := s.readUnsaved(ctx, h, from, nil)
		if err == nil && len(batch.Records) > 0 {
			err = each(batch)
		}
		if err != nil {
			return err
		}
		from = batch.Until
	}
	return s.eachMember(ctx, s.client.ZScan, keysOf(h.Guild.ID).dirty(), func(users []id.User) error {
		for part := range slices.Chunk(users, chunkRows) {
			batch, err := s.readUnsaved(ctx, h, "", part)
			if err != nil {
				return err
			}
			if err := each(batch); err != nil {
				return err
			}
		}
		return nil
	})
}

// scan reads a part of a sorted set, members and scores, or of a hash, fields and values.
type scan func(ctx context.Context, key string, cursor uint64, match string, count int64) *redis.ScanCmd

// eachMember calls each with the members of a set or hash, some at a time, until each fails. It finds all members that are there from begin to
// end. A member may come more than once, but not in one call.
func (s *Store) eachMember(ctx context.Context, part scan, key string, each func([]id.User) error) error {
	for cursor := uint64(0); ; {
		users, next, err := scanMembers(ctx, part, key, cursor)
		if err != nil {
			return fmt.Errorf("redis: scan members: %w", err)
		}
		if err := each(users); err != nil {
			return err
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// scanMembers reads some members, each once.
func scanMembers(ctx context.Context, part scan, key string, cursor uint64) (users []id.User, next uint64, err error) {
	scored, next, err := part(ctx, key, cursor, "", chunkRows).Result()
	for pair := range slices.Chunk(scored, 2) { // a member and what it has
		users = append(users, id.User(pair[0]))
	}
	slices.Sort(users)
	return slices.Compact(users), next, err
}

func (s *Store) readUnsaved(ctx context.Context, h hydrate.Lock, journal string, users []id.User) (b snapshot.Batch, err error) {
	k := keysOf(h.Guild.ID)
	args := append(make([]any, 0, 4+len(users)), int64(h.Guild.Incarnation), h.Token, hydrationLock.Milliseconds(), journal)
	b = snapshot.Batch{Guild: h.Guild, Rows: make([]snapshot.Row, len(users))}
	for i, user := range users {
		args = append(args, string(user))
		b.Rows[i].UserID = user
	}
	r, err := s.run(ctx, unsavedScript, []string{k.meta(), k.lock(), k.xp(), k.off(), k.entry(), k.journal()}, args...)
	if err != nil {
		return b, err
	}
	b.Rev, b.Epoch, b.Known = r.of("rev").number(), r.of("epoch").number(), r.of("read").number()
	b.Mended = fillRows(r, b.Rows)
	b.Records, b.Until = recordsOf(r)
	return b, r.done("unsaved members")
}

// Verified implements hydrate.Live. If its reply was lost, the guild may be verified; see CommitHydration.
func (s *Store) Verified(ctx context.Context, h hydrate.Lock, st snapshot.State) error {
	k := keysOf(h.Guild.ID)
	_, err := s.run(ctx, verifiedScript, []string{k.meta(), k.lock()}, int64(h.Guild.Incarnation), h.Token, st.Epoch)
	return err
}

// LoadChunk implements hydrate.Live. It loads a few hundred rows at a time, so that no call blocks the server for long, and skips tombstones.
func (s *Store) LoadChunk(ctx context.Context, h hydrate.Lock, rows []snapshot.Row) error {
	for part := range slices.Chunk(rows, chunkRows) {
		if err := s.loadRows(ctx, h, part); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) loadRows(ctx context.Context, h hydrate.Lock, rows []snapshot.Row) error {
	k := keysOf(h.Guild.ID)
	pairs := make([][]any, len(k.staging(h.Token)))
	for _, row := range rows {
		if row.Deleted {
			continue
		}
		if err := checkXP(row.XP); err != nil {
			return fmt.Errorf("redis: load chunk: %w", err)
		}
		user, err := encodeUser(row.User)
		if err != nil {
			return fmt.Errorf("redis: load chunk: %w", err)
		}
		member := string(row.UserID)
		e := entry{count: row.MessageCount, updated: millis(row.LastUpdated), cooldown: millis(row.CooldownUntil), absent: row.Absent, gains: row.Gains}
		set := 0 // xp
		if row.Absent {
			set = 1 // off
		}
		pairs[set] = append(pairs[set], int64(row.XP), member)
		pairs[2] = append(pairs[2], member, entryText(e, user))
		for i, gained := range row.OnBoards {
			if row.Absent && gained != 0 {
				gained -= away
			}
			if gained != 0 {
				pairs[3+i] = append(pairs[3+i], gained, member)
			}
		}
	}
	if len(pairs[2]) == 0 {
		return nil
	}
	args := []any{int64(h.Guild.Incarnation), h.Token, hydrationLock.Milliseconds(), stagingTTL.Milliseconds()}
	for _, of := range pairs {
		args = append(args, len(of)/2)
	}
	for _, of := range pairs {
		args = append(args, of...)
	}
	_, err := s.run(ctx, loadChunkScript, append([]string{k.meta(), k.lock()}, k.staging(h.Token)...), args...)
	return err
}

// CommitHydration implements hydrate.Live. If its reply was lost, the guild may be loaded: a second commit then fails with hydrate.ErrLost, and
// BeginHydration finds the guild loaded.
func (s *Store) CommitHydration(ctx context.Context, h hydrate.Lock, st snapshot.State) error {
	k := keysOf(h.Guild.ID)
	keys := []string{k.meta(), k.lock(), k.dirty(), k.journal(), k.events(h.Guild.Incarnation), k.evicted(), k.hidden()}
	keys = append(append(keys, k.members()...), k.staging(h.Token)...)
	args := []any{int64(h.Guild.Incarnation), h.Token, st.Epoch, st.Archived, s.onceTTL.Milliseconds(), h.Boards}
	for _, gained := range h.Gained {
		args = append(args, gained)
	}
	_, err := s.run(ctx, commitHydrationScript, keys, args...)
	return err
}

// AbortHydration implements hydrate.Live. It does not release a lock that another hydration holds by now.
func (s *Store) AbortHydration(ctx context.Context, h hydrate.Lock) error {
	k := keysOf(h.Guild.ID)
	_, err := s.run(ctx, abortHydrationScript, append([]string{k.lock()}, k.staging(h.Token)...), h.Token)
	return err
}

// Drop implements snapshot.Live. It stops a hydration of this incarnation, which then gets hydrate.ErrLost.
func (s *Store) Drop(ctx context.Context, g leaderboard.GuildRef) error {
	k := keysOf(g.ID)
	keys := append([]string{k.meta(), k.lock(), k.events(g.Incarnation), k.dirty(), k.journal(), k.hidden()}, k.members()...)
	_, err := s.run(ctx, dropScript, keys, int64(g.Incarnation))
	return err
}
