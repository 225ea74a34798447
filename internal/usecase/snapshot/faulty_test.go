package snapshot_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

var errBroken = errors.New("broken on demand")

// call is one call of a store: the n-th of its method, from 1, on a guild where it is about one.
type call struct {
	method string
	n      int
	guild  id.Guild
	guilds []id.Guild // of a method that is about many
	rows   int        // of WriteBatch, WriteBatches, Salvage, LoadChunk and NoteUnsaved
}

// faults stands around the calls of both stores. What a hook returns is what the caller gets: an error of before keeps the
// work from being done, one of after comes though it was done. Set the hooks before the stores are used.
type faults struct {
	before func(ctx context.Context, c call) error
	after  func(ctx context.Context, c call) error
	// torn breaks a call of the live store about many guilds in its middle: two thirds of them are served, and the answers of
	// one third arrive.
	torn func(ctx context.Context, c call) error
	// lost says of a WriteBatch or WriteBatches that the archive says it has committed it, and loses it; and of a States that nothing of
	// that is to be seen yet.
	lost func(c call) bool

	mu    sync.Mutex
	calls map[string]int
}

// at returns a hook that fails the n-th call of a method.
func at(method string, n int) func(context.Context, call) error {
	return func(_ context.Context, c call) error {
		if c.method == method && c.n == n {
			return errBroken
		}
		return nil
	}
}

// until waits until the channel is closed.
func until(ctx context.Context, closed <-chan struct{}) error {
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *faults) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

func (f *faults) around(ctx context.Context, c call, work func() error) error {
	f.mu.Lock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[c.method]++
	c.n = f.calls[c.method]
	f.mu.Unlock()
	if f.before != nil {
		if err := f.before(ctx, c); err != nil {
			return err
		}
	}
	if f.lost != nil && (c.method == "WriteBatches" || c.method == "States") && f.lost(c) {
		work = func() error { return nil }
	}
	if err := work(); err != nil {
		return err
	}
	if f.after != nil {
		return f.after(ctx, c)
	}
	return nil
}

// faultyLive is a live store with hooks.
type faultyLive struct {
	snapshot.Live
	*faults
}

func (l faultyLive) ChangedGuilds(ctx context.Context) (guilds []id.Guild, err error) {
	err = l.around(ctx, call{method: "ChangedGuilds"}, func() (err error) {
		guilds, err = l.Live.ChangedGuilds(ctx)
		return err
	})
	return guilds, err
}

func (l faultyLive) LoadedGuilds(ctx context.Context) (guilds []id.Guild, err error) {
	err = l.around(ctx, call{method: "LoadedGuilds"}, func() (err error) {
		guilds, err = l.Live.LoadedGuilds(ctx)
		return err
	})
	return guilds, err
}

func (l faultyLive) Survey(ctx context.Context, guilds []id.Guild, idle time.Duration) (seen snapshot.Seen, err error) {
	err = l.around(ctx, call{method: "Survey"}, func() (err error) {
		seen, err = l.Live.Survey(ctx, guilds, idle)
		return err
	})
	return seen, err
}

func (l faultyLive) NoteUses(ctx context.Context, guilds []id.Guild) error {
	return l.around(ctx, call{method: "NoteUses"}, func() error { return l.Live.NoteUses(ctx, guilds) })
}

func (l faultyLive) Evict(ctx context.Context, c snapshot.Quiet, idle time.Duration) (gone bool, err error) {
	err = l.around(ctx, call{method: "Evict", guild: c.Guild.ID}, func() (err error) {
		gone, err = l.Live.Evict(ctx, c, idle)
		return err
	})
	return gone && err == nil, err
}

func (l faultyLive) MarkChanged(ctx context.Context, guilds ...id.Guild) error {
	return l.around(ctx, call{method: "MarkChanged", guild: guilds[0], guilds: guilds}, func() error { return l.Live.MarkChanged(ctx, guilds...) })
}

// aroundMany is around a call about many guilds; work does it for the first of them.
func (f *faults) aroundMany(ctx context.Context, c call, work func(first int)) (answered int, err error) {
	all := len(c.guilds)
	torn := false
	err = f.around(ctx, c, func() (err error) {
		served := all
		if f.torn != nil {
			c.n = f.count(c.method)
			if err = f.torn(ctx, c); err != nil {
				served, answered, torn = all*2/3, all/3, true
			}
		}
		work(served)
		return err
	})
	if err == nil {
		return all, nil
	}
	if !torn {
		answered = 0
	}
	return answered, err
}

func (l faultyLive) ReadChanges(ctx context.Context, guilds []id.Guild, size int) []snapshot.Page {
	pages := make([]snapshot.Page, len(guilds))
	answered, err := l.aroundMany(ctx, call{method: "ReadChanges", guild: guilds[0], guilds: guilds}, func(first int) {
		copy(pages, l.Live.ReadChanges(ctx, guilds[:first], size))
	})
	for i := answered; i < len(guilds); i++ {
		pages[i] = snapshot.Page{Err: err}
	}
	return pages
}

func (l faultyLive) EndChanges(ctx context.Context, batches []snapshot.Batch) ([]bool, []error) {
	more, errs, guilds := make([]bool, len(batches)), make([]error, len(batches)), make([]id.Guild, len(batches))
	for i := range batches {
		guilds[i] = batches[i].Guild.ID
	}
	answered, err := l.aroundMany(ctx, call{method: "EndChanges", guilds: guilds}, func(first int) {
		changed, wrong := l.Live.EndChanges(ctx, batches[:first])
		copy(more, changed)
		copy(errs, wrong)
	})
	for i := answered; i < len(batches); i++ {
		more[i], errs[i] = false, err
	}
	return more, errs
}

func (l faultyLive) Distrust(ctx context.Context, refused snapshot.Batch) error {
	return l.around(ctx, call{method: "Distrust", guild: refused.Guild.ID}, func() error { return l.Live.Distrust(ctx, refused) })
}

func (l faultyLive) NoteUnsaved(ctx context.Context, load snapshot.Load, users []id.User) (archived int64, err error) {
	err = l.around(ctx, call{method: "NoteUnsaved", guild: load.Guild.ID, rows: len(users)}, func() (err error) {
		archived, err = l.Live.NoteUnsaved(ctx, load, users)
		return err
	})
	return archived, err
}

func (l faultyLive) NoteAllUnsaved(ctx context.Context, load snapshot.Load) error {
	return l.around(ctx, call{method: "NoteAllUnsaved", guild: load.Guild.ID}, func() error { return l.Live.NoteAllUnsaved(ctx, load) })
}

func (l faultyLive) LowerArchived(ctx context.Context, load snapshot.Load, from, to int64) (lowered bool, err error) {
	err = l.around(ctx, call{method: "LowerArchived", guild: load.Guild.ID}, func() (err error) {
		lowered, err = l.Live.LowerArchived(ctx, load, from, to)
		return err
	})
	return lowered, err
}

func (l faultyLive) BeginHydration(ctx context.Context, g leaderboard.GuildRef, s snapshot.State) (h snapshot.Hydration, found snapshot.Found, err error) {
	err = l.around(ctx, call{method: "BeginHydration", guild: g.ID}, func() (err error) {
		h, found, err = l.Live.BeginHydration(ctx, g, s)
		return err
	})
	return h, found, err
}

func (l faultyLive) Unsaved(ctx context.Context, h snapshot.Hydration, each func(snapshot.Batch) error) error {
	return l.around(ctx, call{method: "Unsaved", guild: h.Guild.ID}, func() error { return l.Live.Unsaved(ctx, h, each) })
}

func (l faultyLive) Verified(ctx context.Context, h snapshot.Hydration, s snapshot.State) error {
	return l.around(ctx, call{method: "Verified", guild: h.Guild.ID}, func() error { return l.Live.Verified(ctx, h, s) })
}

func (l faultyLive) LoadChunk(ctx context.Context, h snapshot.Hydration, rows []snapshot.Row) error {
	return l.around(ctx, call{method: "LoadChunk", guild: h.Guild.ID, rows: len(rows)}, func() error { return l.Live.LoadChunk(ctx, h, rows) })
}

func (l faultyLive) CommitHydration(ctx context.Context, h snapshot.Hydration, s snapshot.State) error {
	return l.around(ctx, call{method: "CommitHydration", guild: h.Guild.ID}, func() error { return l.Live.CommitHydration(ctx, h, s) })
}

func (l faultyLive) AbortHydration(ctx context.Context, h snapshot.Hydration) error {
	return l.around(ctx, call{method: "AbortHydration", guild: h.Guild.ID}, func() error { return l.Live.AbortHydration(ctx, h) })
}

func (l faultyLive) Drop(ctx context.Context, g leaderboard.GuildRef) error {
	return l.around(ctx, call{method: "Drop", guild: g.ID}, func() error { return l.Live.Drop(ctx, g) })
}

// faultyArchive is an archive with hooks, which counts calls by number: storetest.FaultyArchive fails from now on.
type faultyArchive struct {
	snapshot.Archive
	*faults
}

func (a faultyArchive) AcquireLease(ctx context.Context, holder string, ttl time.Duration, last bool) (l lease.Lease, err error) {
	err = a.around(ctx, call{method: "AcquireLease"}, func() (err error) {
		l, err = a.Archive.AcquireLease(ctx, holder, ttl, last)
		return err
	})
	return l, err
}

func (a faultyArchive) WriteBatches(ctx context.Context, l lease.Lease, batches []snapshot.Batch) (errs []error, err error) {
	c := call{method: "WriteBatches"}
	for i := range batches {
		c.guilds = append(c.guilds, batches[i].Guild.ID)
		c.rows += len(batches[i].Rows)
	}
	err = a.around(ctx, c, func() (err error) {
		errs, err = a.Archive.WriteBatches(ctx, l, batches)
		return err
	})
	if err == nil && errs == nil {
		errs = make([]error, len(batches)) // they were lost
	}
	return errs, err
}

func (a faultyArchive) State(ctx context.Context, g leaderboard.GuildRef) (s snapshot.State, err error) {
	err = a.around(ctx, call{method: "State", guild: g.ID}, func() (err error) {
		s, err = a.Archive.State(ctx, g)
		return err
	})
	return s, err
}

func (a faultyArchive) States(ctx context.Context, guilds []leaderboard.GuildRef) (found map[leaderboard.GuildRef]snapshot.State, err error) {
	err = a.around(ctx, call{method: "States"}, func() (err error) {
		found, err = a.Archive.States(ctx, guilds)
		return err
	})
	return found, err
}

func (a faultyArchive) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State, kept int64) (s snapshot.State, err error) {
	err = a.around(ctx, call{method: "RaiseEpoch", guild: g.ID}, func() (err error) {
		s, err = a.Archive.RaiseEpoch(ctx, g, from, kept)
		return err
	})
	return s, err
}

func (a faultyArchive) Salvage(ctx context.Context, from snapshot.State, b snapshot.Batch) error {
	return a.around(ctx, call{method: "Salvage", guild: b.Guild.ID, rows: len(b.Rows)}, func() error { return a.Archive.Salvage(ctx, from, b) })
}

func (a faultyArchive) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) (rows []snapshot.Row, err error) {
	err = a.around(ctx, call{method: "Members", guild: g.ID}, func() (err error) {
		rows, err = a.Archive.Members(ctx, g, after, limit)
		return err
	})
	return rows, err
}

func (a faultyArchive) Purge(ctx context.Context, limit int, keep snapshot.Keep) (n int, err error) {
	err = a.around(ctx, call{method: "Purge"}, func() (err error) {
		n, err = a.Archive.Purge(ctx, limit, keep)
		return err
	})
	return n, err
}
