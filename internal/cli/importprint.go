package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/schollz/progressbar/v3"

	"levelboard/internal/usecase/importer"
)

// maxShownSkips is how many skipped rows are printed without --json.
const maxShownSkips = 10

// printImport prints the JSON of import --json; the checkpoint is null with --dry-run.
func (i *importing) printImport(done importer.Result, checkpoint *string) error {
	document, err := json.Marshal(struct {
		Members    int             `json:"members"`
		Created    int             `json:"created"`
		Changed    int             `json:"changed"`
		Unchanged  int             `json:"unchanged"`
		Capped     int             `json:"capped"`
		Skipped    []importer.Skip `json:"skipped"`
		Checkpoint *string         `json:"checkpoint"`
	}{i.plan.Members, done.Created, done.Changed, done.Unchanged, i.plan.Capped, i.Report.Skipped, checkpoint})
	if err != nil {
		return fmt.Errorf("print the import: %w", err)
	}
	return i.printJSON(document)
}

// printDryRun prints what an import would do. It fails if there is nothing to import.
func (i *importing) printDryRun() error {
	if i.json {
		if err := i.printImport(importer.Result{Created: i.plan.New, Changed: i.plan.Changed, Unchanged: i.plan.Unchanged}, nil); err != nil {
			return err
		}
	}
	if err := i.Nothing(); err != nil || i.json {
		return err
	}
	return i.printf("Nothing was changed: this was a dry run.\n")
}

// printDone prints what an import did, and how to undo it.
func (i *importing) printDone(done importer.Result, checkpoint string) error {
	if i.json {
		return i.printImport(done, &checkpoint)
	}
	undo := undoLine(checkpoint, i.guild)
	if i.settings && !i.Report.Proposal.Empty() {
		undo += "That brings back the members. The settings that were taken stay.\n"
	}
	return i.printf("Imported %s: %d new, %d changed, %d unchanged.\n%s", count(i.plan.Members, "member"), done.Created, done.Changed, done.Unchanged, undo)
}

// printPlan prints what was understood of the files, and what would change.
func (i *importing) printPlan() {
	for _, f := range i.Report.Files {
		i.printf("%s: %s, %s\n", printable(f.Name), f.What, count(f.Rows, "member"))
	}
	for _, fact := range i.plan.Facts(&i.Report) {
		i.printf("%10d  %s\n", fact.Value, fact.Name)
	}
	for n, s := range i.Report.Skipped {
		if n == maxShownSkips {
			i.printf("            and %d more\n", i.Report.SkippedRows()-n)
			break
		}
		i.printf("            %s:%d, row %d: %s\n", printable(i.Report.Files[s.File].Name), s.Line, s.Row, s.Reason)
	}
	proposal := &i.Report.Proposal
	switch {
	case i.settings:
		for _, what := range proposal.Taken() {
			i.printf("Takes %s.\n", what)
		}
		for _, n := range proposal.NotTaken {
			i.printf("Does not take %s: %s.\n", printable(n.What), printable(n.Why))
		}
	case !proposal.Empty():
		i.printf("The files have settings too, which --settings takes: %s.\n", strings.Join(proposal.Taken(), ", "))
	}
	if len(i.plan.First) > 0 {
		i.printf("The first of them:\n")
		i.table([]string{"  ID", "XP", "LEVEL", "MESSAGES", "NAME"}, i.first())
	}
}

// first returns the first members of the import.
func (i *importing) first() (rows [][]string) {
	for _, row := range i.plan.First {
		name, messages := "", ""
		if row.User != nil {
			name = row.User.Username
		}
		if row.MessageCount != nil {
			messages = strconv.FormatInt(*row.MessageCount, 10)
		}
		rows = append(rows, []string{"  " + string(row.UserID), strconv.Itoa(int(row.XP)), strconv.Itoa(int(i.Curve.LevelAt(row.XP))), messages, name})
	}
	return rows
}

// progress shows at a terminal how many members were written, the rate and the time left.
func (p *program) progress(members int) *progressbar.ProgressBar {
	if !terminal(p.Stderr) {
		return progressbar.DefaultSilent(int64(members))
	}
	bar := progressbar.NewOptions(members, progressbar.OptionSetWriter(p.Stderr), progressbar.OptionSetDescription("importing"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("members"), progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	bar.StartWithoutRender() // else the rate would not count the time of the first call
	return bar
}
