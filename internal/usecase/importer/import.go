package importer

import (
	"context"
	"io"
	"iter"
	"slices"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// Choice says how files are understood and applied.
type Choice struct {
	From        From
	SourceGuild id.Guild // as in Options
	Mode        leaderboard.PutMode
	MinLevel    level.Level // by the guild's curve, after the settings if they are taken
	Settings    bool        // take the curve, rewards and rates that the files have
}

// Import is the content of the files of an import.
type Import struct {
	Choice
	Members *Members
	Report  Report
	Then    guild.Settings // the guild's settings, with those taken from the files
}

// Read reads the files for a guild as it is now into the spool, which is empty and stays the caller's.
func Read(ctx context.Context, files []File, now guild.Settings, c Choice, spool io.ReadWriteSeeker) (*Import, error) {
	files = slices.Clone(files)
	for n, f := range files {
		files[n].Open = func() (io.ReadCloser, error) {
			content, err := f.Open()
			return stopping{content, ctx.Err}, err
		}
	}
	reader := Open(files, Options{From: c.From, Guild: now.ID, SourceGuild: c.SourceGuild, Curve: now.Curve})
	members, err := Gather(ctx, reader, spool)
	if err != nil {
		return nil, err
	}
	i := &Import{Choice: c, Members: members, Report: reader.Report(), Then: now}
	if c.Settings {
		i.Then = i.Report.Proposal.Apply(now)
	}
	return i, nil
}

// stopping ends a file with its context.
type stopping struct {
	io.ReadCloser
	stopped func() error
}

// Read implements io.Reader.
func (s stopping) Read(p []byte) (int, error) {
	if err := s.stopped(); err != nil {
		return 0, err
	}
	return s.ReadCloser.Read(p)
}

// Compare counts what the import would do to a guild with these members, each there once. It changes nothing.
func (i *Import) Compare(ctx context.Context, members iter.Seq2[Row, error]) (Plan, error) {
	there, err := NewIndex(ctx, members)
	if err != nil {
		return Plan{}, err
	}
	return i.Members.Plan(ctx, PlanOptions{Mode: i.Mode, Curve: i.Then.Curve, MinLevel: i.MinLevel, There: there})
}

// takesSettings reports whether the import changes the guild's settings.
func (i *Import) takesSettings() bool { return i.Settings && !i.Report.Proposal.Empty() }

// Nothing returns an Invalid fault when there is nothing to import.
func (i *Import) Nothing() error {
	if i.takesSettings() {
		return nil
	}
	for _, err := range i.Members.rows(i.Then.Curve, i.MinLevel) {
		return err
	}
	switch {
	case i.Members.count() > 0:
		return fault.New(fault.Invalid, "There is nothing to import: all members of the files are below level %d.", i.MinLevel)
	case len(i.Report.Skipped) > 0:
		return fault.New(fault.Invalid, "There is nothing to import: no row of the files can be taken. The first is skipped because %s.", i.Report.Skipped[0].Reason)
	}
	return fault.New(fault.Invalid, "There is nothing to import: the files have no members.")
}

// RowsOf returns exported members as Compare needs them.
func RowsOf(members iter.Seq2[Exported, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for m, err := range members {
			row := Row{UserID: m.UserID, XP: m.XP, MessageCount: &m.MessageCount, User: &m.User, Present: m.Present}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
