// Package jobs runs the tasks that managers start on the pages and that outlast a request: checkpoints,
// restores, resets and imports. A guild has one job at a time; the newest is kept for an hour. Jobs live in
// this process: a stop cuts them off, and starting one again completes it. The package does not check rights.
package jobs

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/guilds"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// Checkpoints are the use cases that jobs run (package checkpoints).
type Checkpoints interface {
	Create(ctx context.Context, g id.Guild, name string, automatic bool) (checkpoints.Checkpoint, error)
	Restore(ctx context.Context, g id.Guild, checkpoint string) (checkpoints.Replaced, error)
	Reset(ctx context.Context, g id.Guild) (checkpoints.Replaced, error)
	Export(ctx context.Context, g id.Guild) (*guild.Guild, iter.Seq2[importer.Exported, error], error)
	BeginImport(ctx context.Context, g id.Guild, b importer.Begin) (checkpoints.Import, error)
	FinishImport(ctx context.Context, g id.Guild, importID string, members int64) error
}

// Settings reads and changes a guild's settings (package guilds).
type Settings interface {
	Read(ctx context.Context, by guilds.Actor, g id.Guild) (*guild.Guild, error)
	Change(ctx context.Context, g id.Guild, change guild.Change) (*guild.Guild, error)
}

// Board writes members (package leaderboard).
type Board interface {
	Put(ctx context.Context, g *guild.Guild, p leaderboard.Puts) (done []leaderboard.Done, replayed bool, err error)
}

// Options are the settings of a Runner.
type Options struct {
	Checkpoints Checkpoints
	Settings    Settings
	Board       Board
	Dir         string // for temporary files; empty: the system's
	Log         *slog.Logger
	Now         func() time.Time
}

// Runner has the jobs of all guilds. Its errors are faults. It is safe for concurrent use.
type Runner struct {
	*queue
	o Options
}

// New returns a Runner, which works until Run ends.
func New(o Options) *Runner { return &Runner{newQueue(o.Log, o.Now), o} }

// Checkpoint makes a checkpoint with that name.
func (r *Runner) Checkpoint(ctx context.Context, g id.Guild, name string) error {
	j := &job{guild: g, Job: Job{Kind: Checkpoint, Name: name}}
	return r.start(ctx, j, func(ctx context.Context) error {
		made, err := r.o.Checkpoints.Create(ctx, g, name, false)
		r.change(func() { j.Checkpoint = made })
		return err
	})
}

// Restore replaces the guild's members by those of a checkpoint.
func (r *Runner) Restore(ctx context.Context, g id.Guild, checkpoint string) error {
	return r.replace(ctx, Restore, g, func(ctx context.Context) (checkpoints.Replaced, error) {
		return r.o.Checkpoints.Restore(ctx, g, checkpoint)
	})
}

// Reset removes all members of the guild.
func (r *Runner) Reset(ctx context.Context, g id.Guild) error {
	return r.replace(ctx, Reset, g, func(ctx context.Context) (checkpoints.Replaced, error) { return r.o.Checkpoints.Reset(ctx, g) })
}

func (r *Runner) replace(ctx context.Context, kind Kind, g id.Guild, replace func(ctx context.Context) (checkpoints.Replaced, error)) error {
	j := &job{guild: g, Job: Job{Kind: kind}}
	return r.start(ctx, j, func(ctx context.Context) error {
		done, err := replace(ctx)
		r.change(func() { j.Checkpoint, j.Members = done.Before, done.Members })
		return err
	})
}

func (r *Runner) start(ctx context.Context, j *job, work func(ctx context.Context) error) error {
	j.State = Waiting
	err := r.add(ctx, j)
	if err == nil {
		r.work(ctx, j, stages{Running, Done}, work)
	}
	return err
}
