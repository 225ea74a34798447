package redisstore

import (
	"context"
	"fmt"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var (
	readChangesScript = newEachScript("read_changes", "put", "values", "entries")
	endChangesScript  = newEachScript("end_changes", "epoch", "put", "archive")
)

// ReadChanges implements snapshot.Live. Damaged entries are mended as by ReadBatch.
func (s *Store) ReadChanges(ctx context.Context, guilds []id.Guild, small int) []snapshot.Changes {
	calls := make([]*redisconn.Call, len(guilds))
	for i, g := range guilds {
		calls[i] = &redisconn.Call{Script: readChangesScript, Keys: keysOf(g).members(), Args: []any{small}}
	}
	s.client.RunEach(ctx, calls)
	changes := make([]snapshot.Changes, len(guilds))
	for i, c := range calls {
		err := known(c.Err)
		if err == nil {
			changes[i], err = changesOf(guilds[i], c.Reply)
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
	calls := make([]*redisconn.Call, len(batches))
	for i, b := range batches {
		k := keysOf(b.Guild.ID)
		calls[i] = &redisconn.Call{
			Script: endChangesScript, Keys: []string{k.meta(), k.dirty()},
			Args: []any{int64(b.Guild.Incarnation), b.Epoch, b.Rev},
		}
	}
	s.client.RunEach(ctx, calls)
	more, errs = make([]bool, len(batches)), make([]error, len(batches))
	for i, c := range calls {
		err := known(c.Err)
		var changed int64
		if err == nil {
			changed, err = reply(c.Reply).number(0)
		}
		more[i], errs[i] = changed == 1, err
	}
	return more, errs
}
