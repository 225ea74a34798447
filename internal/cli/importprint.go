package cli

import (
	"fmt"
	"log/slog"
	"strconv"

	"github.com/go-json-experiment/json"

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

func (p *program) printImport(i *importing, done imported) error {
	answer := importJSON{i.plan.Members, done.Created, done.Changed, done.Unchanged, i.plan.Capped, make([]skippedJSON, len(i.report.Skipped)), nil}
	for n, s := range i.report.Skipped {
		answer.Skipped[n] = skippedJSON{s.Line, s.Reason}
	}
	if done.Checkpoint != "" {
		answer.Checkpoint = &done.Checkpoint
	}
	document, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("print the import: %w", err)
	}
	return p.printJSON(document)
}

// showPlan prints what an import would do.
func (p *program) showPlan(i *importing) error {
	if i.json {
		return p.printImport(i, imported{Created: i.plan.New, Changed: i.plan.Changed, Unchanged: i.plan.Unchanged})
	}
	p.printPlan(i)
	p.printf("Nothing was changed: this was a dry run.\n")
	return nil
}

// showImported prints what an import did, and how to undo it.
func (p *program) showImported(i *importing, done imported) error {
	if i.json {
		return p.printImport(i, done)
	}
	p.printf("Imported %s: %d new, %d changed, %d as before.\n%s", count(i.plan.Members, "member"), done.Created, done.Changed, done.Unchanged,
		undoLine(done.Checkpoint, i.guild))
	return nil
}

// printPlan says what was understood of the files, and what would change.
func (p *program) printPlan(i *importing) {
	for _, f := range i.report.Files {
		p.printf("%s: %s, %s\n", printable(f.Name), f.What, count(f.Rows, "member"))
	}
	for _, w := range i.report.Warnings {
		p.say(slog.LevelWarn, printable(w))
	}
	facts := []struct {
		n    int
		what string
	}{
		{i.plan.Members, "members"}, {i.plan.New, "new"}, {i.plan.Changed, "changed"}, {i.plan.Unchanged, "as before"}, {i.plan.Lower, "lower than now"},
		{i.plan.BelowMinLevel, "below the least level, left out"}, {i.plan.Capped, "capped"}, {i.plan.FromLevels, "by their level, since there is no XP"},
		{i.plan.NotPresent, "not present"}, {i.plan.ChangeLevel, "of another level than the source shows"},
		{i.report.Duplicates, "rows of a member that has another one"}, {i.report.SkippedRows(), "rows skipped"},
	}
	for n, fact := range facts {
		if n < 5 || fact.n > 0 {
			p.printf("%10d  %s\n", fact.n, fact.what)
		}
	}
	for n, s := range i.report.Skipped {
		if n == maxShownSkips {
			p.printf("            and %d more\n", i.report.SkippedRows()-n)
			break
		}
		p.printf("            %s:%d, row %d: %s\n", printable(i.report.Files[s.File].Name), s.Line, s.Row, s.Reason)
	}
	p.printSettings(i)
	p.printFirst(i)
}

// printSettings says what is taken of the settings in the files.
func (p *program) printSettings(i *importing) {
	proposal := &i.report.Proposal
	if !i.settings {
		if !proposal.Empty() {
			p.printf("The files have settings too: --settings takes them.\n")
		}
		return
	}
	taken := func(given bool, format string, args ...any) {
		if given {
			p.printf("Takes "+format+".\n", args...)
		}
	}
	taken(proposal.Curve != nil, "the curve")
	taken(proposal.Rewards != nil, "%s, in place of %d", count(len(proposal.Rewards), "role reward"), len(i.now.RoleRewards))
	taken(proposal.XPPerMessageMin != nil || proposal.XPPerMessageMax != nil, "the XP per message: %d to %d", i.then.XPPerMessageMin, i.then.XPPerMessageMax)
	taken(proposal.XPGainInterval != nil, "the cooldown: %d ms", i.then.XPGainInterval)
	taken(proposal.XPGlobalMultiplier != nil, "the global multiplier: %s", number(i.then.XPGlobalMultiplier))
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
		rows[n] = []string{"  " + string(row.UserID), strconv.Itoa(int(row.XP)), strconv.Itoa(int(i.then.Curve.LevelAt(row.XP))), messages, name}
	}
	_ = writeTable(p.Stdout, []string{"  ID", "XP", "LEVEL", "MESSAGES", "NAME"}, rows)
}
