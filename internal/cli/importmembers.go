package cli

import (
	"context"
	"fmt"
	"hash"
	"net/http"
	"os"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// importing is one import: what was read, and what it would do.
type importing struct {
	*importFlags
	client  *adminClient
	path    string // of the guild
	now     guild.Settings
	then    guild.Settings // with what is taken of the files
	hashes  []hash.Hash    // of the files, once they were read
	members *importer.Members
	report  importer.Report
	plan    importer.Plan
}

func (p *program) importMembers(ctx context.Context, flags *importFlags) error {
	client, err := p.slowClient(&flags.clientFlags)
	if err != nil {
		return err
	}
	spools, remove, err := importer.Temporary("", 2)
	if err != nil {
		return err
	}
	defer remove()
	i := &importing{importFlags: flags, client: client, path: "/admin/guilds/" + flags.guild}
	if err := i.read(ctx, p, spools[0]); err != nil {
		return err
	}
	if err := i.compare(ctx, spools[1]); err != nil {
		return err
	}
	if flags.dryRun {
		return p.showPlan(i)
	}
	if !flags.json {
		p.printPlan(i)
	}
	if err := p.ask(flags.yes, func() (string, string, error) {
		return fmt.Sprintf("Import %s into %s?", count(i.plan.Members, "member"), printable(i.now.Name)), "yes", nil
	}); err != nil {
		return err
	}
	done, err := i.apply(ctx, p)
	if err != nil {
		return err
	}
	return p.showImported(i, done)
}

// read reads the guild's settings and all files.
func (i *importing) read(ctx context.Context, p *program, spool *os.File) (err error) {
	_, document, err := i.client.call(ctx, http.MethodGet, i.path, nil)
	if err != nil {
		return err
	}
	if i.now, err = guild.Parse(id.Guild(i.guild), document); err != nil {
		return fmt.Errorf("the service's answer cannot be read: %w", err)
	}
	files, err := i.open(ctx, p)
	if err != nil {
		return err
	}
	reader := importer.Open(files, importer.Options{
		From: importer.From(i.from), Guild: id.Guild(i.guild), SourceGuild: id.Guild(i.sourceGuild), Curve: i.now.Curve,
	})
	if i.members, err = importer.Gather(reader, spool); err != nil {
		return err
	}
	i.report, i.then = reader.Report(), i.now
	if i.settings {
		i.then = i.report.Proposal.Apply(i.now)
	}
	return nil
}

// compare finds out what would change, by an export of the guild.
func (i *importing) compare(ctx context.Context, spool *os.File) error {
	response, err := i.client.open(ctx, http.MethodGet, i.path+"/export?format=json", nil, "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	export := importer.File{Name: "the service's export", Open: opened(response.Body)}
	reader := importer.Open([]importer.File{export}, importer.Options{From: importer.Lurkr, Guild: id.Guild(i.guild), Curve: i.now.Curve})
	index, err := importer.NewIndex(reader.Rows(), spool)
	if err != nil {
		return err
	}
	i.plan, err = i.members.Plan(ctx, importer.PlanOptions{
		Mode: leaderboard.PutMode(i.mode), Curve: i.then.Curve, MinLevel: level.Level(i.minLevel), Lookup: index.Lookup,
	})
	return err
}

// apply makes a checkpoint, takes the settings, writes the members and finishes the import.
func (i *importing) apply(ctx context.Context, p *program) (done imported, err error) {
	begin := map[string]any{}
	if leaderboard.PutMode(i.mode) == leaderboard.PutAdd {
		plan, err := i.members.PlanHash(leaderboard.PutAdd, i.then.Curve, level.Level(i.minLevel))
		if err != nil {
			return done, err
		}
		begin = map[string]any{"files": i.hash(), "plan": plan, "again": i.again}
	}
	body, err := json.Marshal(begin)
	if err != nil {
		return done, fmt.Errorf("begin an import: %w", err)
	}
	_, answer, err := i.client.call(ctx, http.MethodPost, i.path+"/imports", body)
	if err != nil {
		return done, err
	}
	begun, err := read[struct {
		ID         string     `json:"id"`
		Checkpoint checkpoint `json:"checkpoint"`
	}](answer)
	if err != nil {
		return done, err
	}
	done.Checkpoint = begun.Checkpoint.ID
	if i.settings && !i.report.Proposal.Empty() {
		document, err := guild.Marshal(i.then)
		if err != nil {
			return done, fmt.Errorf("take the settings: %w", err)
		}
		if _, _, err := i.client.call(ctx, http.MethodPut, i.path, document); err != nil {
			return done, err
		}
	}
	if err := i.write(ctx, p, begun.ID, &done); err != nil {
		return done, fmt.Errorf("%w\nThe import is not complete: run it again to complete it, or undo it with 'levelboard checkpoint restore %s --guild %s'",
			err, done.Checkpoint, i.guild)
	}
	_, _, err = i.client.call(ctx, http.MethodPost, i.path+"/imports/"+begun.ID+"/finish", fmt.Appendf(nil, `{"members":%d}`, i.plan.Members))
	return done, err
}
