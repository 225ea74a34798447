package cli

import (
	"context"
	"fmt"
	"hash"
	"log/slog"
	"net/http"
	"os"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// importing is one import: what was read, and what it would do.
type importing struct {
	*importFlags
	*importer.Import
	client *adminClient
	path   string // of the guild
	name   string
	hashes []hash.Hash // of the files, once they were read
	plan   importer.Plan
	warn   func(string)
}

func (p *program) importMembers(ctx context.Context, flags *importFlags) error {
	client, err := p.slowClient(&flags.clientFlags)
	if err != nil {
		return err
	}
	spool, remove, err := importer.Temporary("")
	if err != nil {
		return err
	}
	defer remove()
	i := &importing{
		importFlags: flags, client: client, path: "/admin/guilds/" + flags.guild,
		warn: func(text string) { p.say(slog.LevelWarn, printable(text)) },
	}
	if err := i.read(ctx, p, spool); err != nil {
		return err
	}
	if err := i.compare(ctx); err != nil {
		return err
	}
	if flags.dryRun {
		return p.showPlan(i)
	}
	if !flags.json {
		p.printPlan(i)
	}
	if err := i.Nothing(); err != nil {
		return err
	}
	if err := p.ask(flags.yes, func() (string, string, error) {
		return fmt.Sprintf("Import %s into %s?", count(i.plan.Members, "member"), printable(i.name)), "yes", nil
	}); err != nil {
		return err
	}
	return p.applyImport(ctx, i)
}

// read reads the guild's settings and all files.
func (i *importing) read(ctx context.Context, p *program, spool *os.File) error {
	_, document, err := i.client.call(ctx, http.MethodGet, i.path, nil)
	if err != nil {
		return err
	}
	now, err := guild.Parse(id.Guild(i.guild), document)
	if err != nil {
		return fmt.Errorf("the service's answer cannot be read: %w", err)
	}
	i.name = now.Name
	i.Import, err = importer.Read(ctx, i.open(ctx, p), now, importer.Choice{
		From: importer.From(i.from), SourceGuild: id.Guild(i.sourceGuild), Mode: leaderboard.PutMode(i.mode), MinLevel: level.Level(i.minLevel),
		Settings: i.settings,
	}, spool)
	return err
}

// compare finds out what would change, by an export of the guild.
func (i *importing) compare(ctx context.Context) error {
	response, err := i.client.open(ctx, http.MethodGet, i.path+"/export?format=json", nil, "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	export := importer.File{Name: "the service's export", Open: opened(response.Body)}
	reader := importer.Open([]importer.File{export}, importer.Options{From: importer.Lurkr, Guild: id.Guild(i.guild)})
	i.plan, err = i.Compare(ctx, reader.Rows())
	return err
}

func (p *program) applyImport(ctx context.Context, i *importing) error {
	bar := p.progress(i.plan.Members)
	done, checkpoint, err := i.Apply(ctx, &importTarget{client: i.client, path: i.path}, importer.ApplyOptions{
		By: "command", Files: i.hash(), Again: i.again, Wrote: func(done importer.Result) { bar.set(done.Written()) },
	})
	bar.end()
	switch {
	case err == nil:
		return p.showImported(i, done, checkpoint)
	case checkpoint == "":
		return err
	}
	return fmt.Errorf("%w\nThe import is not complete: run it again to complete it, or undo it with 'levelboard checkpoint restore %s --guild %s'", err, checkpoint, i.guild)
}
