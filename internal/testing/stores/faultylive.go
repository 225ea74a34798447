package stores

import (
	"context"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Live is a live store for snapshots and hydration.
type Live interface {
	snapshot.Live
	hydrate.Live
}

// faultyLive is a live store with hooks.
type faultyLive struct {
	Live
	*Faults
}

func (l faultyLive) ChangedGuilds(ctx context.Context) (guilds []id.Guild, err error) {
	err = l.around(ctx, Call{Method: "ChangedGuilds"}, func() (err error) {
		guilds, err = l.Live.ChangedGuilds(ctx)
		return err
	})
	return guilds, err
}

func (l faultyLive) LoadedGuilds(ctx context.Context) (guilds []id.Guild, err error) {
	err = l.around(ctx, Call{Method: "LoadedGuilds"}, func() (err error) {
		guilds, err = l.Live.LoadedGuilds(ctx)
		return err
	})
	return guilds, err
}

func (l faultyLive) Survey(ctx context.Context, guilds []id.Guild, idle time.Duration) (seen snapshot.Seen, err error) {
	err = l.around(ctx, Call{Method: "Survey"}, func() (err error) {
		seen, err = l.Live.Survey(ctx, guilds, idle)
		return err
	})
	return seen, err
}

func (l faultyLive) NoteUses(ctx context.Context, guilds []id.Guild) error {
	return l.around(ctx, Call{Method: "NoteUses"}, func() error { return l.Live.NoteUses(ctx, guilds) })
}

func (l faultyLive) Evict(ctx context.Context, c snapshot.Quiet, idle time.Duration) (gone bool, err error) {
	err = l.around(ctx, Call{Method: "Evict", Guild: c.Guild.ID}, func() (err error) {
		gone, err = l.Live.Evict(ctx, c, idle)
		return err
	})
	return gone && err == nil, err
}

func (l faultyLive) MarkChanged(ctx context.Context, guilds ...id.Guild) error {
	return l.around(ctx, Call{Method: "MarkChanged", Guild: guilds[0], Guilds: guilds}, func() error { return l.Live.MarkChanged(ctx, guilds...) })
}

func (l faultyLive) ReadChanges(ctx context.Context, guilds []id.Guild, size int) []snapshot.Page {
	pages := make([]snapshot.Page, len(guilds))
	answered, err := l.aroundMany(ctx, Call{Method: "ReadChanges", Guild: guilds[0], Guilds: guilds}, func(first int) {
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
	answered, err := l.aroundMany(ctx, Call{Method: "EndChanges", Guilds: guilds}, func(first int) {
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
	return l.around(ctx, Call{Method: "Distrust", Guild: refused.Guild.ID}, func() error { return l.Live.Distrust(ctx, refused) })
}

func (l faultyLive) NoteUnsaved(ctx context.Context, load snapshot.Load, users []id.User) (archived int64, err error) {
	err = l.around(ctx, Call{Method: "NoteUnsaved", Guild: load.Guild.ID, Rows: len(users)}, func() (err error) {
		archived, err = l.Live.NoteUnsaved(ctx, load, users)
		return err
	})
	return archived, err
}

func (l faultyLive) NoteAllUnsaved(ctx context.Context, load snapshot.Load) error {
	return l.around(ctx, Call{Method: "NoteAllUnsaved", Guild: load.Guild.ID}, func() error { return l.Live.NoteAllUnsaved(ctx, load) })
}

func (l faultyLive) LowerArchived(ctx context.Context, load snapshot.Load, from, to int64) (lowered bool, err error) {
	err = l.around(ctx, Call{Method: "LowerArchived", Guild: load.Guild.ID}, func() (err error) {
		lowered, err = l.Live.LowerArchived(ctx, load, from, to)
		return err
	})
	return lowered, err
}

func (l faultyLive) BeginHydration(ctx context.Context, g leaderboard.GuildRef, s snapshot.State) (h hydrate.Lock, found hydrate.Found, err error) {
	err = l.around(ctx, Call{Method: "BeginHydration", Guild: g.ID}, func() (err error) {
		h, found, err = l.Live.BeginHydration(ctx, g, s)
		return err
	})
	return h, found, err
}

func (l faultyLive) Unsaved(ctx context.Context, h hydrate.Lock, each func(snapshot.Batch) error) error {
	return l.around(ctx, Call{Method: "Unsaved", Guild: h.Guild.ID}, func() error { return l.Live.Unsaved(ctx, h, each) })
}

func (l faultyLive) Verified(ctx context.Context, h hydrate.Lock, s snapshot.State) error {
	return l.around(ctx, Call{Method: "Verified", Guild: h.Guild.ID}, func() error { return l.Live.Verified(ctx, h, s) })
}

func (l faultyLive) LoadChunk(ctx context.Context, h hydrate.Lock, rows []snapshot.Row) error {
	return l.around(ctx, Call{Method: "LoadChunk", Guild: h.Guild.ID, Rows: len(rows)}, func() error { return l.Live.LoadChunk(ctx, h, rows) })
}

func (l faultyLive) CommitHydration(ctx context.Context, h hydrate.Lock, s snapshot.State) error {
	return l.around(ctx, Call{Method: "CommitHydration", Guild: h.Guild.ID}, func() error { return l.Live.CommitHydration(ctx, h, s) })
}

func (l faultyLive) AbortHydration(ctx context.Context, h hydrate.Lock) error {
	return l.around(ctx, Call{Method: "AbortHydration", Guild: h.Guild.ID}, func() error { return l.Live.AbortHydration(ctx, h) })
}

func (l faultyLive) Drop(ctx context.Context, g leaderboard.GuildRef) error {
	return l.around(ctx, Call{Method: "Drop", Guild: g.ID}, func() error { return l.Live.Drop(ctx, g) })
}
