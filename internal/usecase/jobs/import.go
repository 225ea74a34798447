package jobs

import (
	"context"
	"errors"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/guilds"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// preview computes the changes that an import would make.
func (r *Runner) preview(ctx context.Context, j *job) error {
	return r.read(ctx, j, func(_ *guild.Guild, in *importer.Import) error {
		r.change(func() { j.Import.Report, j.Import.Plan, j.Import.Curve = in.Report, importer.Plan{}, in.Curve })
		if err := in.Nothing(); err != nil {
			return err
		}
		_, there, err := r.o.Checkpoints.Export(ctx, j.guild)
		if err != nil {
			return err
		}
		plan, err := in.Compare(ctx, importer.RowsOf(there))
		r.change(func() { j.Import.Plan = plan })
		return err
	})
}

// read reads the files of an import for the guild with its current settings. The spool exists until use returns.
func (r *Runner) read(ctx context.Context, j *job, use func(*guild.Guild, *importer.Import) error) error {
	spool, remove, err := importer.Temporary(r.o.Dir)
	if err != nil {
		return err
	}
	defer remove()
	g, err := r.o.Settings.Read(ctx, guilds.Manager, j.guild)
	if err != nil {
		return err
	}
	in, err := importer.Read(ctx, j.upload.open(), g.Settings, j.Import.Choice, spool)
	if err != nil {
		return err
	}
	return use(g, in)
}

// Confirm applies an import that is Ready. It returns a Conflict fault if the
// guild has another job now. again adds files even if they were added before.
func (r *Runner) Confirm(ctx context.Context, g id.Guild, jobID string, again bool) error {
	j, err := r.take(g, jobID, func(j *job) bool { return j.State == Ready })
	if err == nil {
		r.work(ctx, j, stages{Running, Done}, func(ctx context.Context) error { return r.apply(ctx, j, again) })
	}
	return err
}

// Choose compares the files of an import again, with another choice. Its faults are those of Confirm.
func (r *Runner) Choose(ctx context.Context, g id.Guild, jobID string, c importer.Choice) error {
	j, err := r.take(g, jobID, func(j *job) bool { return j.upload != nil && !j.State.Active() })
	if err == nil {
		r.change(func() { j.Import.Choice, j.Import.Report, j.Err = c, importer.Report{}, nil })
		r.work(ctx, j, stages{Reading, Ready}, func(ctx context.Context) error { return r.preview(ctx, j) })
	}
	return err
}

// take returns the guild's import with that id for its next step, if may allows it.
func (r *Runner) take(g id.Guild, jobID string, may func(*job) bool) (*job, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.jobs[g]
	if j == nil || j.ID != jobID || !may(j) || r.now().After(j.until) {
		return nil, fault.New(fault.Conflict, "This upload is not available here: it was imported or discarded, is older than an hour, or another server "+
			"of this service has it. Go back and try again, or upload the files again.")
	}
	if r.isAtWork(j.user) {
		return nil, errOwnBusy
	}
	j.State = Waiting
	return j, nil
}

func (r *Runner) apply(ctx context.Context, j *job, again bool) error {
	return r.read(ctx, j, func(g *guild.Guild, in *importer.Import) error {
		_, _, err := in.Apply(ctx, &target{r, j, g}, importer.ApplyOptions{
			By: "pages", Again: again, Wrote: func(done importer.Result) { r.change(func() { j.Import.Result = done }) },
		})
		return err
	})
}

// target is the guild that an import is applied to.
type target struct {
	*Runner
	job   *job
	guild *guild.Guild
}

func (t *target) Begin(ctx context.Context, b importer.Begin) (importer.Begun, error) {
	begun, err := t.o.Checkpoints.BeginImport(ctx, t.guild.ID, b)
	if err == nil {
		t.change(func() { t.job.Checkpoint = begun.Checkpoint })
	}
	return importer.Begun{ID: begun.ID, Checkpoint: begun.Checkpoint.ID}, err
}

func (t *target) TakeSettings(ctx context.Context, properties []byte) error {
	change, err := guild.ParseChange(t.guild.ID, properties)
	if err != nil {
		return err
	}
	saved, err := t.o.Settings.Change(ctx, t.guild.ID, change)
	if err == nil {
		t.guild = saved
	}
	return err
}

func (t *target) Put(ctx context.Context, call importer.Call) (done importer.Result, busy bool, err error) {
	name := []byte(call.Name)
	outcomes, _, err := t.o.Board.Put(ctx, t.guild, leaderboard.Puts{Mode: call.Mode, Members: call.Members, Import: true, Once: leaderboard.Once{
		Key: leaderboard.DigestOf([]byte("pages"), name), Request: leaderboard.DigestOf(name),
	}})
	for _, d := range outcomes {
		done.Count(d.State)
	}
	return done, fault.Is(err, fault.Unavailable) && !errors.Is(err, leaderboard.ErrGuildMoved), err
}

func (t *target) Finish(ctx context.Context, importID string, members int) error {
	return t.o.Checkpoints.FinishImport(ctx, t.guild.ID, importID, int64(members))
}
