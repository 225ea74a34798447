package redisstore

import (
	"context"
	"fmt"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// ReadChanges implements snapshot.Live. Damaged entries are mended as by ReadBatch.
func (s *Store) ReadChanges(ctx context.Context, guilds []id.Guild, small int) []snapshot.Changes {
	calls := make([]*eachCall, len(guilds))
	for i, g := range guilds {
		calls[i] = &eachCall{guildRun: guildRun{keys: keysOf(g).members(), args: []any{small}}}
	}
	s.snapshotEach(ctx, readChangesScript, calls)
	changes := make([]snapshot.Changes, len(guilds))
	for i, c := range calls {
		r, err := readChangesScript.result(c.v, c.err)
		if err == nil {
			changes[i], err = changesOf(guilds[i], r)
		}
		changes[i].Err = err
	}
	return changes
}

// changesOf reads what read_changes.lua answered.
func changesOf(g id.Guild, r reply) (c snapshot.Changes, err error) {
	switch len(r) {
	case 0:
		return c, nil
	case 1:
		state, err := r.number(0)
		c.Many, c.Left = state == 0, state == 1
		return c, err
	case 2:
		incarnation, err := r.number(1)
		c.Batch.Guild = leaderboard.GuildRef{ID: g, Incarnation: guild.Incarnation(incarnation)}
		if err == nil {
			err = snapshot.ErrUnverified
		}
		return c, err
	}
	members, err := r.list(5, -1)
	var incarnation, epoch int64
	if err == nil {
		err = r[6:].numbers(&incarnation, &epoch)
	}
	if err != nil {
		return c, fmt.Errorf("redis: read changes: %w", err)
	}
	rows := make([]snapshot.Row, len(members))
	for i, member := range members {
		user, _ := member.(string)
		rows[i] = snapshot.Row{Member: leaderboard.Member{UserID: id.User(user)}}
	}
	c.Batch, err = fillBatch(leaderboard.GuildRef{ID: g, Incarnation: guild.Incarnation(incarnation)}, epoch, rows, r)
	return c, err
}

// EndChanges implements snapshot.Live.
func (s *Store) EndChanges(ctx context.Context, batches []snapshot.Batch) (more []bool, errs []error) {
	calls := make([]*eachCall, len(batches))
	for i, b := range batches {
		k := keysOf(b.Guild.ID)
		calls[i] = &eachCall{guildRun: guildRun{
			keys: []string{k.meta(), k.dirty()},
			args: []any{int64(b.Guild.Incarnation), b.Epoch, b.Rev},
		}}
	}
	s.snapshotEach(ctx, endChangesScript, calls)
	more, errs = make([]bool, len(batches)), make([]error, len(batches))
	for i, c := range calls {
		r, err := endChangesScript.result(c.v, c.err)
		var changed int64
		if err == nil {
			changed, err = r.number(0)
		}
		more[i], errs[i] = changed == 1, err
	}
	return more, errs
}

// snapshotEach is runEach for the snapshot writer. What is observed is the wait for all of them, and the first error.
func (s *Store) snapshotEach(ctx context.Context, sc *script, calls []*eachCall) {
	began := time.Now()
	_ = s.runEach(ctx, sc, calls, silentNodes{}) // each call has its error
	var first error
	for _, c := range calls {
		if first == nil {
			_, first = sc.result(c.v, c.err)
		}
	}
	if s.observe != nil {
		s.observe(sc.name, time.Since(began), first)
	}
	if s.trace != nil {
		s.trace(ctx, sc.name, began, first)
	}
}
