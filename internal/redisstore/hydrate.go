package redisstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"levelboard/internal/leaderboard"
	"levelboard/internal/snapshot"
)

const (
	// hydrationLock is how long a hydration's lock lasts without a chunk: long enough for a slow read of the archive, short
	// enough that a guild whose hydrating replica died is not away for long.
	hydrationLock = 30 * time.Second
	// stagingTTL is how long the staging keys of a hydration that died stay behind. It is longer than the lock, so that a
	// hydration that still holds its lock has all that it loaded.
	stagingTTL = 5 * time.Minute
	// chunkRows is how many rows one script loads; the embedded Redis has room for about 5,000 values in one command of a script.
	chunkRows = 1000
)

// Answers of begin_hydration.lua.
const (
	lockTaken = iota
	guildLoaded
	lockBusy
)

// BeginHydration implements snapshot.Live. The lock is lost 30 seconds after it was taken or a chunk was loaded.
func (s *Store) BeginHydration(ctx context.Context, g leaderboard.GuildRef) (h snapshot.Hydration, loaded, busy bool, err error) {
	// The incarnation is in the token so that Drop can tell whose hydration it stops.
	h = snapshot.Hydration{Guild: g, Token: strconv.FormatInt(int64(g.Incarnation), 10) + "-" + rand.Text()}
	k := keysOf(g.ID)
	r, err := s.run(ctx, beginHydrationScript, []string{k.meta(), k.lock()}, int64(g.Incarnation), h.Token, hydrationLock.Milliseconds())
	if err != nil {
		return h, false, false, err
	}
	switch r.at(0) {
	case int64(lockTaken):
		return h, false, false, nil
	case int64(guildLoaded):
		return snapshot.Hydration{}, true, false, nil
	case int64(lockBusy):
		return snapshot.Hydration{}, false, true, nil
	}
	return h, false, false, fmt.Errorf("redis: begin hydration: %w", errReply)
}

// LoadChunk implements snapshot.Live. It loads a thousand rows at a time, so that no call holds the server up for long.
// Tombstones are passed over.
func (s *Store) LoadChunk(ctx context.Context, h snapshot.Hydration, rows []snapshot.Row) error {
	for len(rows) > 0 {
		n := min(len(rows), chunkRows)
		if err := s.loadRows(ctx, h, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func (s *Store) loadRows(ctx context.Context, h snapshot.Hydration, rows []snapshot.Row) error {
	var scores, stats, users []any
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
		st := stat{count: row.MessageCount, updated: millis(row.LastUpdated), cooldown: millis(row.CooldownUntil)}
		scores = append(scores, int64(row.XP), member)
		stats = append(stats, member, st.String())
		users = append(users, member, user)
	}
	if len(scores) == 0 {
		return nil
	}
	args := make([]any, 0, 5+3*len(scores))
	args = append(args, int64(h.Guild.Incarnation), h.Token, hydrationLock.Milliseconds(), stagingTTL.Milliseconds(), len(scores)/2)
	args = append(append(append(args, scores...), stats...), users...)
	k := keysOf(h.Guild.ID)
	_, err := s.run(ctx, loadChunkScript, append([]string{k.meta(), k.lock()}, k.staging(h.Token)...), args...)
	return err
}

// CommitHydration implements snapshot.Live. When its reply was lost the guild may be loaded; to commit again is
// ErrHydrationLost then, and BeginHydration says that it is loaded.
func (s *Store) CommitHydration(ctx context.Context, h snapshot.Hydration, st snapshot.State) error {
	k := keysOf(h.Guild.ID)
	keys := []string{k.meta(), k.lock(), k.xp(), k.stat(), k.user(), k.dirty()}
	keys = append(append(keys, k.staging(h.Token)...), k.flushingPrefix())
	_, err := s.run(ctx, commitHydrationScript, keys, int64(h.Guild.Incarnation), h.Token, st.Epoch, st.Archived)
	return err
}

// AbortHydration implements snapshot.Live. A lock that passed to another hydration is left alone.
func (s *Store) AbortHydration(ctx context.Context, h snapshot.Hydration) error {
	k := keysOf(h.Guild.ID)
	_, err := s.run(ctx, abortHydrationScript, append([]string{k.lock()}, k.staging(h.Token)...), h.Token)
	return err
}

// Drop implements snapshot.Live. A hydration of this incarnation that is under way is stopped: it gets ErrHydrationLost.
func (s *Store) Drop(ctx context.Context, g leaderboard.GuildRef) error {
	k := keysOf(g.ID)
	keys := []string{k.meta(), k.lock(), k.xp(), k.stat(), k.user(), k.dirty(), k.flushingPrefix()}
	_, err := s.run(ctx, dropScript, keys, int64(g.Incarnation))
	return err
}
