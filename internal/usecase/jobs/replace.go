package jobs

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/checkpoints"
)

// Checkpoint makes a checkpoint of that name.
func (r *Runner) Checkpoint(ctx context.Context, g id.Guild, name string) error {
	j := &job{guild: g, Job: Job{Kind: Checkpoint, Name: name}}
	return r.start(ctx, j, func(ctx context.Context) error {
		made, err := r.o.Checkpoints.Create(ctx, g, name, false)
		r.change(func() { j.Checkpoint = made })
		return err
	})
}

// Restore puts a checkpoint in place of the guild's members.
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
