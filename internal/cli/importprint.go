package cli

import (
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/schollz/progressbar/v3"

	"levelboard/internal/usecase/importer"
)

// maxShownSkips is how many skipped rows are printed for people.
const maxShownSkips = 10

// importJSON is what import --json prints.
type importJSON struct {
	Members    int           `json:"members"`
	Created    int           `json:"created"`
	Changed    int           `json:"changed"`
	Unchanged  int           `json:"unchanged"`
	Capped     int           `json:"capped"`
	Skipped    []skippedJSON `json:"skipped"`
	Checkpoint *string       `json:"checkpoint"` // null with --dry-run
}

type skippedJSON struct {
	Line   int             `json:"line"`
	Reason importer.Reason `json:"reason"`
}

func (p *program) printImport(i *importing, done importer.Result, checkpoint string) error {
	answer := importJSON{i.plan.Members, done.Created, done.Changed, done.Unchanged, i.plan.Capped, make([]skippedJSON, len(i.Report.Skipped)), nil}
	for n, s := range i.Report.Skipped {
		answer.Skipped[n] = skippedJSON{s.Line, s.Reason}
	}
	if checkpoint != "" {
		answer.Checkpoint = &checkpoint
	}
	document, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("print the import: %w", err)
	}
	return p.printJSON(document)
}

// showPlan prints what an import would do. It fails when that is nothing.
func (p *program) showPlan(i *importing) error {
	if i.json {
		if err := p.printImport(i, importer.Result{Created: i.plan.New, Changed: i.plan.Changed, Unchanged: i.plan.Unchanged}, ""); err != nil {
			return err
		}
		return i.Nothing()
	}
	p.printPlan(i)
	if err := i.Nothing(); err != nil {
		return err
	}
	p.printf("Nothing was changed: this was a dry run.\n")
	return nil
}

// showImported prints what an import did, and how to undo it.
func (p *program) showImported(i *importing, done importer.Result, checkpoint string) error {
	if i.json {
		return p.printImport(i, done, checkpoint)
	}
	p.printf("Imported %s: %d new, %d changed, %d unchanged.\n%s", count(i.plan.Members, "member"), done.Created, done.Changed, done.Unchanged,
		undoLine(checkpoint, i.guild))
	return nil
}

// printPlan says what was understood of the files, and what would change.
func (p *program) printPlan(i *importing) {
	for _, f := range i.Report.Files {
		p.printf("%s: %s, %s\n", printable(f.Name), f.What, count(f.Rows, "member"))
	}
	for _, w := range i.Report.Warnings {
		p.say(slog.LevelWarn, printable(w))
	}
	for _, fact := range i.plan.Facts(&i.Report) {
		p.printf("%10d  %s\n", fact.Value, fact.Name)
	}
	for n, s := range i.Report.Skipped {
		if n == maxShownSkips {
			p.printf("            and %d more\n", i.Report.SkippedRows()-n)
			break
		}
		p.printf("            %s:%d, row %d: %s\n", printable(i.Report.Files[s.File].Name), s.Line, s.Row, s.Reason)
	}
	p.printSettings(i)
	p.printFirst(i)
}

// printSettings says what is taken of the settings in the files.
func (p *program) printSettings(i *importing) {
	proposal := &i.Report.Proposal
	if !i.settings {
		if !proposal.Empty() {
			p.printf("The files have settings too: --settings takes them.\n")
		}
		return
	}
	for _, what := range proposal.Taken() {
		p.printf("Takes %s.\n", what)
	}
	for _, n := range proposal.NotTaken {
		p.printf("Does not take %s: %s.\n", printable(n.What), printable(n.Why))
	}
}

func (p *program) printFirst(i *importing) {
	if len(i.plan.First) == 0 {
		return
	}
	p.printf("The first of them:\n")
	rows := make([][]string, len(i.plan.First))
	for n := range i.plan.First {
		row := &i.plan.First[n]
		name, messages := "", ""
		if row.User != nil {
			name = printable(row.User.Username)
		}
		if row.MessageCount != nil {
			messages = strconv.FormatInt(*row.MessageCount, 10)
		}
		rows[n] = []string{"  " + string(row.UserID), strconv.Itoa(int(row.XP)), strconv.Itoa(int(i.Then.Curve.LevelAt(row.XP))), messages, name}
	}
	_ = writeTable(p.Stdout, []string{"  ID", "XP", "LEVEL", "MESSAGES", "NAME"}, rows)
}

// progress is a bar at the terminal.
type progress struct {
	bar *progressbar.ProgressBar // nil without a terminal
}

// progress shows how many of the members were written, the rate and the time left, if there is a terminal.
func (p *program) progress(members int) progress {
	if !terminal(p.Stderr) {
		return progress{}
	}
	bar := progressbar.NewOptions(members, progressbar.OptionSetWriter(p.Stderr), progressbar.OptionSetDescription("importing"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("members"), progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	bar.StartWithoutRender() // else the rate leaves out the time of the first call
	return progress{bar}
}

func (p progress) set(members int) {
	if p.bar != nil {
		_ = p.bar.Set(members)
	}
}

func (p progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
