package stores

import (
	"context"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// Archive is an archive for snapshots and hydration.
type Archive interface {
	snapshot.Archive
	hydrate.Archive
}

// faultyArchive is an archive with the hooks of Faults.
type faultyArchive struct {
	Archive
	*Faults
}

func (a faultyArchive) AcquireLease(ctx context.Context, holder string, ttl time.Duration, last bool) (l lease.Lease, err error) {
	err = a.around(ctx, Call{Method: "AcquireLease"}, func() (err error) {
		l, err = a.Archive.AcquireLease(ctx, holder, ttl, last)
		return err
	})
	return l, err
}

func (a faultyArchive) WriteBatches(ctx context.Context, l lease.Lease, batches []snapshot.Batch) (errs []error, err error) {
	c := Call{Method: "WriteBatches"}
	for i := range batches {
		c.Guilds = append(c.Guilds, batches[i].Guild.ID)
		c.Rows += len(batches[i].Rows)
	}
	err = a.around(ctx, c, func() (err error) {
		errs, err = a.Archive.WriteBatches(ctx, l, batches)
		return err
	})
	if err == nil && errs == nil {
		errs = make([]error, len(batches)) // lost, but acknowledged
	}
	return errs, err
}

func (a faultyArchive) State(ctx context.Context, g leaderboard.GuildRef) (s snapshot.State, err error) {
	err = a.around(ctx, Call{Method: "State", Guild: g.ID}, func() (err error) {
		s, err = a.Archive.State(ctx, g)
		return err
	})
	return s, err
}

func (a faultyArchive) States(ctx context.Context, guilds []leaderboard.GuildRef) (found map[leaderboard.GuildRef]snapshot.State, err error) {
	err = a.around(ctx, Call{Method: "States"}, func() (err error) {
		found, err = a.Archive.States(ctx, guilds)
		return err
	})
	return found, err
}

func (a faultyArchive) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State, kept int64) (s snapshot.State, err error) {
	err = a.around(ctx, Call{Method: "RaiseEpoch", Guild: g.ID}, func() (err error) {
		s, err = a.Archive.RaiseEpoch(ctx, g, from, kept)
		return err
	})
	return s, err
}

func (a faultyArchive) Past(ctx context.Context, g leaderboard.GuildRef, name leaderboard.Digest) (p *leaderboard.Past, err error) {
	err = a.around(ctx, Call{Method: "Past", Guild: g.ID}, func() (err error) {
		p, err = a.Archive.Past(ctx, g, name)
		return err
	})
	return p, err
}

func (a faultyArchive) Salvage(ctx context.Context, from snapshot.State, b snapshot.Batch) error {
	return a.around(ctx, Call{Method: "Salvage", Guild: b.Guild.ID, Rows: len(b.Rows)}, func() error { return a.Archive.Salvage(ctx, from, b) })
}

func (a faultyArchive) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) (rows []snapshot.Row, err error) {
	err = a.around(ctx, Call{Method: "Members", Guild: g.ID}, func() (err error) {
		rows, err = a.Archive.Members(ctx, g, after, limit)
		return err
	})
	return rows, err
}

func (a faultyArchive) Purge(ctx context.Context, limit int, keep snapshot.Keep) (n int, err error) {
	err = a.around(ctx, Call{Method: "Purge"}, func() (err error) {
		n, err = a.Archive.Purge(ctx, limit, keep)
		return err
	})
	return n, err
}
