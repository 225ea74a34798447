package redisstore

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var (
	beginFlushScript = newScript("begin_flush")
	readBatchScript  = newScript("read_batch", "epoch", "put", "values", "entries")
	archivedScript   = newScript("archived", "epoch", "put", "archive")
	endFlushScript   = newScript("end_flush", "epoch")
	distrustScript   = newScript("distrust", "epoch")
)

// takeGuilds is how many guilds one command takes out of the index.
const takeGuilds = 1000

// scanCount is how many keys one step of a walk over all keys looks at: it takes the server well below a
// millisecond, for which requests wait.
const scanCount = 250

// DirtyGuilds implements snapshot.Live. When it fails part of the way it returns what it has taken with the error: those
// guilds, and any that were in a reply that was lost, are no longer in the index.
func (s *Store) DirtyGuilds(ctx context.Context) ([]id.Guild, error) {
	var guilds []id.Guild
	for {
		taken, err := s.client.SPopN(ctx, dirtyGuildsKey, takeGuilds).Result()
		if err != nil {
			return guilds, fmt.Errorf("redis: dirty guilds: %w", err)
		}
		for _, text := range taken {
			if g, err := id.Parse[id.Guild](text); err == nil {
				guilds = append(guilds, g)
			}
		}
		if len(taken) < takeGuilds {
			return guilds, nil
		}
	}
}

// LoadedGuilds implements snapshot.Live. It walks all keys of the database in many small steps, so a guild that is loaded or
// dropped meanwhile, or moves from one node of a cluster to another, may or may not be in the answer. When it fails on a node,
// it returns the guilds of the others with the error.
func (s *Store) LoadedGuilds(ctx context.Context) ([]id.Guild, error) {
	var mu sync.Mutex
	var guilds []id.Guild
	seen := make(map[id.Guild]bool)
	err := s.client.EachMaster(ctx, func(master *redis.Client) error {
		keys := master.Scan(ctx, 0, loadedPattern, scanCount).Iterator()
		for keys.Next(ctx) {
			g, ok := guildOfMeta(keys.Val())
			mu.Lock()
			if ok && !seen[g] {
				seen[g] = true
				guilds = append(guilds, g)
			}
			mu.Unlock()
		}
		return keys.Err()
	})
	if err != nil {
		return guilds, fmt.Errorf("redis: loaded guilds: %w", err)
	}
	return guilds, nil
}

// MarkDirty implements snapshot.Live.
func (s *Store) MarkDirty(ctx context.Context, guilds ...id.Guild) error {
	for part := range slices.Chunk(guilds, takeGuilds) {
		members := make([]any, len(part))
		for i, g := range part {
			members[i] = string(g)
		}
		if err := s.addToIndex(ctx, members); err != nil {
			return fmt.Errorf("redis: mark dirty: %w", err)
		}
	}
	return nil
}

// BeginFlush implements snapshot.Live. After a set that an earlier flush left behind has been ended, more may have changed:
// call it until ok is false.
func (s *Store) BeginFlush(ctx context.Context, g id.Guild) (f snapshot.Flush, ok bool, err error) {
	k := keysOf(g)
	r, err := s.run(ctx, beginFlushScript, []string{k.meta(), k.dirty(), k.flushingPrefix()})
	if err != nil || len(r) == 0 {
		return snapshot.Flush{}, false, err
	}
	var incarnation int64
	fields := []*int64{&incarnation, &f.Epoch, &f.ID, &f.Size}
	if err := r.numbers(fields[:min(len(r), len(fields))]...); err != nil {
		return snapshot.Flush{}, false, fmt.Errorf("redis: begin flush: %w", err)
	}
	f.Guild = leaderboard.GuildRef{ID: g, Incarnation: guild.Incarnation(incarnation)}
	if len(r) == 1 {
		err = snapshot.ErrUnverified
	}
	return f, len(r) >= len(fields), err
}

// FlushMembers implements snapshot.Live. count is a wish: an answer may hold a few more or fewer, and a small set comes
// whole. Of a set that is gone there are no members.
func (s *Store) FlushMembers(ctx context.Context, f snapshot.Flush, cursor uint64, count int64) ([]id.User, uint64, error) {
	users, next, err := s.scanMembers(ctx, keysOf(f.Guild.ID).flushing(f.ID), cursor, count)
	if err != nil {
		return nil, 0, fmt.Errorf("redis: flush members: %w", err)
	}
	return users, next, nil
}

func (s *Store) scanMembers(ctx context.Context, set string, cursor uint64, count int64) ([]id.User, uint64, error) {
	members, next, err := s.client.SScan(ctx, set, cursor, "", count).Result()
	users := make([]id.User, len(members))
	for i, member := range members {
		users[i] = id.User(member)
	}
	return users, next, err
}

// ReadBatch implements snapshot.Live. ErrNotLoaded also when the guild was loaded anew since the flush began. The server does
// nothing else meanwhile: a thousand users take a few milliseconds. An entry that is damaged is mended, so that it does not keep
// the others from being archived: XP is the nearest there is, numbers that cannot be read are no messages and no
// times, and user data that cannot be read, or is not UTF-8, is unknown.
func (s *Store) ReadBatch(ctx context.Context, f snapshot.Flush, users []id.User) (snapshot.Batch, error) {
	rows, args := batchOf(users, int64(f.Guild.Incarnation), f.Epoch, f.Archived)
	r, err := s.run(ctx, readBatchScript, keysOf(f.Guild.ID).members(), args...)
	if err != nil {
		return snapshot.Batch{}, err
	}
	return fillBatch(f.Guild, f.Epoch, rows, r)
}

// fillBatch makes a batch of what read_batch.lua answered about the users of rows.
func fillBatch(g leaderboard.GuildRef, epoch int64, rows []snapshot.Row, r reply) (snapshot.Batch, error) {
	rev, err := r.number(0)
	var known int64
	if err == nil {
		known, err = r.number(3)
	}
	certain := known
	if err == nil && r.at(4) != nil {
		var pending int64
		pending, err = r.number(4)
		known = max(known, pending)
	}
	var mended []id.User
	if err == nil {
		mended, err = fillRows(r, rows)
	}
	if err != nil {
		return snapshot.Batch{}, fmt.Errorf("redis: read batch: %w", err)
	}
	return snapshot.Batch{Guild: g, Epoch: epoch, Rev: rev, Known: known, Archived: certain, Rows: rows, Mended: mended}, nil
}

// batchOf returns a row for each user, each once, and the arguments of a script that reads them, after those of its own.
func batchOf(users []id.User, own ...any) (rows []snapshot.Row, args []any) {
	args = append(make([]any, 0, len(own)+len(users)), own...)
	rows = make([]snapshot.Row, 0, len(users))
	seen := make(map[id.User]bool, len(users))
	for _, user := range users {
		if !seen[user] {
			seen[user] = true
			args = append(args, string(user))
			rows = append(rows, snapshot.Row{Member: leaderboard.Member{UserID: user}})
		}
	}
	return rows, args
}

// Archived implements snapshot.Live.
func (s *Store) Archived(ctx context.Context, b snapshot.Batch) error {
	_, err := s.run(ctx, archivedScript, []string{keysOf(b.Guild.ID).meta()}, int64(b.Guild.Incarnation), b.Epoch, b.Rev)
	return err
}

// EndFlush implements snapshot.Live. Ending a flush that was ended already changes nothing.
func (s *Store) EndFlush(ctx context.Context, f snapshot.Flush) error {
	k := keysOf(f.Guild.ID)
	_, err := s.run(ctx, endFlushScript, []string{k.meta(), k.flushing(f.ID)}, int64(f.Guild.Incarnation), f.Epoch, f.ID)
	return err
}

// Distrust implements snapshot.Live.
func (s *Store) Distrust(ctx context.Context, f snapshot.Flush, refused *snapshot.Batch) error {
	args := []any{int64(f.Guild.Incarnation), f.Epoch}
	if refused != nil {
		args = append(args, refused.Known)
	}
	_, err := s.run(ctx, distrustScript, []string{keysOf(f.Guild.ID).meta()}, args...)
	return err
}
