package redisstore

import (
	"context"
	"time"

	"levelboard/internal/id"
	"levelboard/internal/snapshot"
)

// BeginFlushes implements snapshot.Live.
func (s *Store) BeginFlushes(ctx context.Context, guilds []id.Guild, small int) []snapshot.Begun {
	calls := make([]*eachCall, len(guilds))
	for i, g := range guilds {
		calls[i] = &eachCall{keys: beginFlushKeys(keysOf(g)), args: []any{small}}
	}
	s.flushEach(ctx, beginFlushScript, calls)
	begun := make([]snapshot.Begun, len(guilds))
	for i, c := range calls {
		r, err := beginFlushScript.result(c.v, c.err)
		begun[i] = begunOf(guilds[i], r, err)
	}
	return begun
}

// ReadBatches implements snapshot.Live.
func (s *Store) ReadBatches(ctx context.Context, flushes []snapshot.Begun) ([]snapshot.Batch, []error) {
	calls, rows := make([]*eachCall, len(flushes)), make([][]snapshot.Row, len(flushes))
	for i, b := range flushes {
		c := &eachCall{keys: keysOf(b.Flush.Guild.ID).members()}
		rows[i], c.args = batchOf(b.Users, int64(b.Flush.Guild.Incarnation), b.Flush.Epoch, b.Flush.Archived)
		calls[i] = c
	}
	s.flushEach(ctx, readBatchScript, calls)
	batches, errs := make([]snapshot.Batch, len(flushes)), make([]error, len(flushes))
	for i, c := range calls {
		r, err := readBatchScript.result(c.v, c.err)
		if err == nil {
			batches[i], err = fillBatch(flushes[i].Flush, rows[i], r)
		}
		errs[i] = err
	}
	return batches, errs
}

// EndFlushes implements snapshot.Live.
func (s *Store) EndFlushes(ctx context.Context, flushes []snapshot.Flush, revs []int64) []error {
	calls := make([]*eachCall, len(flushes))
	for i, f := range flushes {
		k := keysOf(f.Guild.ID)
		calls[i] = &eachCall{
			keys: []string{k.meta(), k.flushing(f.ID)},
			args: []any{int64(f.Guild.Incarnation), f.Epoch, f.ID, revs[i]},
		}
	}
	s.flushEach(ctx, endFlushScript, calls)
	errs := make([]error, len(flushes))
	for i, c := range calls {
		_, errs[i] = endFlushScript.result(c.v, c.err)
	}
	return errs
}

// flushEach is runEach for the snapshot writer. What is observed is the wait for all of them, and the first error.
func (s *Store) flushEach(ctx context.Context, sc *script, calls []*eachCall) {
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
