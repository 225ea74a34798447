package redisstore

import (
	"cmp"
	"context"
	"time"

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

// ReadChanges implements snapshot.Live. It blocks the server while it reads a guild: a few milliseconds for a thousand members.
func (s *Store) ReadChanges(ctx context.Context, guilds []id.Guild, size int) []snapshot.Page {
	calls := make([]*redisconn.Call, len(guilds))
	for i, g := range guilds {
		calls[i] = &redisconn.Call{Script: readChangesScript, Keys: keysOf(g).names(metaName, xpName, offName, entryName, dirtyName, journalName), Args: []any{size}}
	}
	s.client.RunEach(ctx, calls)
	pages := make([]snapshot.Page, len(guilds))
	for i, c := range calls {
		if pages[i].Err = known(c.Err); c.Err == nil {
			pages[i] = changesOf(guilds[i], newReply(c.Reply))
		}
	}
	return pages
}

// changesOf reads the answer of read_changes.lua.
func changesOf(g id.Guild, r reply) (p snapshot.Page) {
	b := &p.Batch
	if r.size() == 0 {
		return p
	}
	b.Guild = r.guild(g)
	if !r.of("epoch").there() {
		p.Err = cmp.Or(r.done("read changes"), snapshot.ErrUnverified)
		return p
	}
	b.Epoch = r.of("epoch").number()
	if r.of("rev").there() {
		b.AsOf, b.Rev, b.Archived = r.of("rev").number(), r.of("upto").number(), r.of("archived").number()
		b.Known, b.Doubtful, p.At = r.of("known").number(), r.of("missing").number() == 1, time.UnixMilli(r.of("now").number())
		if !p.More() {
			b.Before = p.At
		}
		for _, user := range r.of("members").texts() {
			b.Rows = append(b.Rows, snapshot.Row{Member: leaderboard.Member{UserID: id.User(user)}})
		}
		b.Mended = fillRows(r, b.Rows)
		b.Records, b.Until = recordsOf(r)
	}
	p.Err = r.done("read changes")
	return p
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
		if errs[i] = known(c.Err); c.Err == nil {
			r := newReply(c.Reply)
			more[i], errs[i] = r.of("waiting").number() > 0, r.done("end changes")
		}
	}
	return more, errs
}

// Distrust implements snapshot.Live.
func (s *Store) Distrust(ctx context.Context, refused snapshot.Batch) error {
	_, err := s.run(ctx, distrustScript, []string{keysOf(refused.Guild.ID).meta()}, int64(refused.Guild.Incarnation), refused.Epoch, refused.Known)
	return err
}
