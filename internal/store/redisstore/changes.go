package redisstore

import (
	"context"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var (
	readChangesScript = makeScript("read_changes", redisconn.ScriptOptions{Waits: true, AllowOOM: true}, []string{"now", "values", "rows"})
	endChangesScript  = makeScript("end_changes", redisconn.ScriptOptions{AllowOOM: true}, []string{"epoch"})
	distrustScript    = newScript("distrust", "epoch")
)

// ReadChanges implements snapshot.Live. The server does nothing else while it reads a guild: a thousand members take a few milliseconds.
func (s *Store) ReadChanges(ctx context.Context, guilds []id.Guild, size int) []snapshot.Page {
	calls := make([]*redisconn.Call, len(guilds))
	for i, g := range guilds {
		calls[i] = &redisconn.Call{Script: readChangesScript, Keys: keysOf(g).names(metaName, xpName, offName, entryName, dirtyName, journalName), Args: []any{size}}
	}
	s.client.RunEach(ctx, calls)
	pages := make([]snapshot.Page, len(guilds))
	for i, c := range calls {
		err := known(c.Err)
		if err == nil {
			pages[i], err = changesOf(guilds[i], c.Reply)
		}
		pages[i].Err = err
	}
	return pages
}

// changesOf reads the answer of read_changes.lua.
func changesOf(g id.Guild, r reply) (p snapshot.Page, err error) {
	b := &p.Batch
	if len(r) == 0 {
		return p, nil
	}
	var incarnation, now, missing int64
	if err := r.named(named{"incarnation", &incarnation}); err != nil {
		return p, wrap("read changes", err)
	}
	b.Guild = leaderboard.GuildRef{ID: g, Incarnation: guild.Incarnation(incarnation)}
	if r.of("epoch") < 0 {
		return p, snapshot.ErrUnverified
	}
	if err := r.named(named{"epoch", &b.Epoch}); err != nil || r.of("rev") < 0 {
		return p, wrap("read changes", err)
	}
	err = r.named(named{"rev", &b.AsOf}, named{"upto", &b.Rev}, named{"archived", &b.Archived}, named{"known", &b.Known}, named{"now", &now},
		named{"missing", &missing})
	if err != nil {
		return p, wrap("read changes", err)
	}
	p.At, b.Doubtful = time.UnixMilli(now), missing == 1
	if !p.More() {
		b.Before = p.At
	}
	var members []string
	members, err = r.texts(r.of("members"))
	if err == nil {
		b.Rows = make([]snapshot.Row, len(members))
		for i, user := range members {
			b.Rows[i].UserID = id.User(user)
		}
		b.Mended, err = fillRows(r, b.Rows)
	}
	if err == nil {
		b.Records, b.Until, err = recordsOf(r)
	}
	return p, wrap("read changes", err)
}

// EndChanges implements snapshot.Live.
func (s *Store) EndChanges(ctx context.Context, batches []snapshot.Batch) (more []bool, errs []error) {
	calls := make([]*redisconn.Call, len(batches))
	for i, b := range batches {
		k := keysOf(b.Guild.ID)
		calls[i] = &redisconn.Call{
			Script: endChangesScript, Keys: []string{k.meta(), k.dirty(), k.journal()},
			Args: []any{int64(b.Guild.Incarnation), b.Epoch, b.Rev, millis(b.Before), b.Until},
		}
	}
	s.client.RunEach(ctx, calls)
	more, errs = make([]bool, len(batches)), make([]error, len(batches))
	for i, c := range calls {
		err := known(c.Err)
		var waiting int64
		if err == nil {
			err = reply(c.Reply).named(named{"waiting", &waiting})
		}
		more[i], errs[i] = waiting > 0, err
	}
	return more, errs
}

// Distrust implements snapshot.Live.
func (s *Store) Distrust(ctx context.Context, refused snapshot.Batch) error {
	_, err := s.run(ctx, distrustScript, []string{keysOf(refused.Guild.ID).meta()}, int64(refused.Guild.Incarnation), refused.Epoch, refused.Known)
	return err
}
