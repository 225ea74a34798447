package jobs

import (
	"context"
	"iter"

	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/importer"
)

// preview returns the work that finds out what an import would change.
func (r *Runner) preview(j *job) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		in, remove, err := r.gather(ctx, j, 2)
		if err != nil {
			return err
		}
		defer remove()
		_, there, err := r.o.Checkpoints.Export(ctx, j.guild)
		if err != nil {
			return err
		}
		index, err := importer.NewIndex(rowsOf(there), in.spools[1])
		if err != nil {
			return err
		}
		curve := j.settings(in.guild.Settings, &in.report).Curve
		plan, err := in.members.Plan(ctx, importer.PlanOptions{
			Mode: j.Import.Mode, Curve: curve, MinLevel: j.Import.MinLevel, Lookup: index.Lookup,
		})
		r.change(func() { j.Import.Report, j.Import.Plan, j.Import.Curve = in.report, plan, curve })
		return err
	}
}

// settings returns the guild's settings with what is taken of the files.
func (j *job) settings(now guild.Settings, report *importer.Report) guild.Settings {
	if !j.Import.Settings {
		return now
	}
	return report.Proposal.Apply(now)
}

// rowsOf returns members of the guild as an Index needs them.
func rowsOf(members iter.Seq2[importer.Exported, error]) iter.Seq2[importer.Row, error] {
	return func(yield func(importer.Row, error) bool) {
		for m, err := range members {
			row := importer.Row{UserID: m.UserID, XP: m.XP, MessageCount: &m.MessageCount, User: &m.User, Present: m.Present}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
