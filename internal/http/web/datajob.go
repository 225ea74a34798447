package web

import (
	"context"
	"errors"
	"strconv"
	"time"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/jobs"
	"levelboard/internal/usecase/leaderboard"
)

// jobView is a job on the page of a guild's data.
type jobView struct {
	jobs.Job
	Guild id.Guild
	Now   time.Time
	Form  *form // of an import whose files have arrived
}

// Doing says what a running job does.
func (j jobView) Doing() string {
	if j.State == jobs.Waiting {
		return "Waiting for the tasks of other communities to finish."
	}
	switch j.Kind {
	case jobs.Checkpoint:
		return "Creating the checkpoint."
	case jobs.Restore:
		return "Restoring the checkpoint. The leaderboard does not respond until it is done."
	case jobs.Reset:
		return "Removing all members. The leaderboard does not respond until it is done."
	}
	switch j.State {
	case jobs.Receiving:
		return "The files are being uploaded."
	case jobs.Reading:
		return "Comparing the files with your members."
	}
	return "Writing the members."
}

// Title names a job.
func (j jobView) Title() string {
	return map[jobs.Kind]string{
		jobs.Checkpoint: "Checkpoint", jobs.Restore: "Restore", jobs.Reset: "Reset", jobs.Import: "Import",
	}[j.Kind]
}

// Problem says why a job failed.
func (j jobView) Problem() string {
	if words := dataProblem(j.Err); words != "" {
		return words
	}
	f := fault.From(j.Err)
	if f.Code == fault.Internal {
		return "Something went wrong on our side. Try again later."
	}
	return f.Message
}

// dataProblem words the errors about a guild's members. It returns "" for any other error.
func dataProblem(err error) string {
	if problem := jobs.Problem(err); problem != "" {
		return "The file can't be imported. " + displayname.Cut(problem, 300)
	}
	for _, known := range []struct {
		err   error
		words string
	}{
		{checkpoints.ErrUnknown, "This checkpoint does not exist anymore."},
		{checkpoints.ErrTooMany, "You already have 20 checkpoints. Delete one that you don't need."},
		{checkpoints.ErrImported, "These files were already added to this community. To add them again, upload them and check “Add again” in the preview."},
		{checkpoints.ErrCutOff, "An earlier import of these files was interrupted too long ago to be continued. Restore the checkpoint from before it, then import again."},
		{checkpoints.ErrOtherPlan, "An earlier import of these files was interrupted, and had other options, files in another order or another curve, or was begun with the command. Import them in the same way, or restore the checkpoint from before it and import again."},
		{leaderboard.ErrGuildMoved, "The members were restored, reset or deleted in the meantime."},
		{context.DeadlineExceeded, "It took too long."},
	} {
		if errors.Is(err, known.err) {
			return known.words
		}
	}
	return ""
}

// skippedRow is a row of a file that the import skips.
type skippedRow struct {
	File      string
	Line, Row int
	Reason    importer.Reason
}

// skipsShown is how many skipped rows are shown at first.
const skipsShown = 10

// Skips returns the listed skipped rows: the first few in First, the others in More.
func (j jobView) Skips() (list struct{ First, More []skippedRow }) {
	report := &j.Import.Report
	for i, s := range report.Skipped {
		row := skippedRow{report.Files[s.File].Name, s.Line, s.Row, s.Reason}
		if i < skipsShown {
			list.First = append(list.First, row)
		} else {
			list.More = append(list.More, row)
		}
	}
	return list
}

// Facts returns the numbers of a preview.
func (j jobView) Facts() []importer.Fact { return j.Import.Plan.Facts(&j.Import.Report) }

// previewedMember is one of the first members of an import.
type previewedMember struct {
	Name, ID, Messages string
	XP                 int64
	Level              int
}

// First returns the first members of an import.
func (j jobView) First() (list []previewedMember) {
	for _, row := range j.Import.Plan.First {
		m := previewedMember{ID: string(row.UserID), XP: int64(row.XP), Level: int(j.Import.Curve.LevelAt(row.XP))}
		user := leaderboard.User{}
		if row.User != nil {
			user = *row.User
		}
		m.Name, _ = displayName(user, m.ID)
		if row.MessageCount != nil {
			m.Messages = strconv.FormatInt(*row.MessageCount, 10)
		}
		list = append(list, m)
	}
	return list
}

// Guilds returns the guilds of a backup, to choose from after an error about them.
func (j jobView) Guilds() (list []properties.Option) {
	var wrong *importer.FileError
	if errors.As(j.Err, &wrong) {
		for _, g := range wrong.Guilds {
			list = append(list, properties.Option{Value: g, Label: g})
		}
	}
	return list
}

// Taken names the settings that the files have.
func (j jobView) Taken() []string { return j.Import.Report.Proposal.Taken() }
