package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// importing is one import: its flags, the files' content, and the changes it would make.
type importing struct {
	*client
	from, mode                        string
	sourceGuild, sourceURL, sourceKey string
	minLevel                          int
	settings, dryRun, again           bool

	guild, name string
	files       []string
	*importer.Import
	plan importer.Plan
}

func (p *program) importCommand() *cobra.Command {
	i := &importing{client: &client{program: p}}
	cmd := p.forGuild("import FILE...", "Bring members from another bot or service", i.run)
	i.flags(i.asks(cmd))
	cmd.Args = cobra.ArbitraryArgs
	cmd.Long = "Import members from files of another bot (several are one import, - is standard input), or from a service that speaks this API.\n" +
		"Prints what it understood, makes a checkpoint, and says how to undo the import. If it is cut off, run it again.\n" + cmd.Long
	f := cmd.Flags()
	f.StringVar(&i.from, "from", string(importer.Auto), "`source`: "+joined(importer.Sources))
	f.StringVar(&i.mode, "mode", string(leaderboard.PutHigher), "what happens to members who exist: "+joined(leaderboard.PutModes))
	f.IntVar(&i.minLevel, "min-level", 0, "leave out members below this `level`")
	f.BoolVar(&i.settings, "settings", false, "take the curve, rewards and rates that the files have")
	f.BoolVar(&i.dryRun, "dry-run", false, "change nothing, show what would change")
	f.BoolVar(&i.again, "again", false, "with --mode add: add files that were added to this guild before")
	f.StringVar(&i.sourceURL, "source-url", "", "`address` of a service that speaks this API, in place of files")
	f.StringVar(&i.sourceGuild, "source-guild", "", "`id` of the guild there, or in a file of all guilds")
	f.StringVar(&i.sourceKey, "source-key", "", "API `key` for a board there that is not public")
	return cmd
}

// check checks the flags before anything is read.
func (i *importing) check() error {
	if _, err := importer.ParseFrom(i.from); err != nil {
		return usage("--from: %w", err)
	}
	switch {
	case !slices.Contains(leaderboard.PutModes, leaderboard.PutMode(i.mode)):
		return usage("--mode must be one of %s", joined(leaderboard.PutModes))
	case i.minLevel < 0 || i.minLevel > int(level.Max):
		return usage("--min-level must be from 0 to %d", level.Max)
	case i.sourceURL == "" && len(i.files) == 0:
		return usage("a file is missing")
	case i.sourceURL != "" && len(i.files) > 0:
		return usage("give files or --source-url, not both")
	case i.sourceURL != "" && !webAddress(i.sourceURL):
		return usage("--source-url must be an http:// or https:// address")
	case i.sourceURL != "" && i.sourceGuild == "":
		return usage("--source-url needs --source-guild")
	case i.sourceGuild != "" && !id.Valid(i.sourceGuild):
		return usage("--source-guild %w", id.ErrSnowflake)
	case i.again && leaderboard.PutMode(i.mode) != leaderboard.PutAdd:
		return usage("--again is for --mode add: the other modes can be repeated anyway")
	case i.dryRun:
		return nil
	}
	return i.mayAsk()
}

func (i *importing) run(ctx context.Context, guild string, files []string) error {
	i.guild, i.files = guild, files
	if err := i.check(); err != nil {
		return err
	}
	spool, remove, err := importer.Temporary("")
	if err != nil {
		return err
	}
	defer remove()
	if err := i.read(ctx, spool); err != nil {
		return err
	}
	if err := i.compare(ctx); err != nil {
		return err
	}
	for _, w := range i.Report.Warnings {
		i.warn(w)
	}
	if !i.json {
		i.printPlan()
	}
	if i.dryRun {
		return i.printDryRun()
	}
	if err := i.Nothing(); err != nil {
		return err
	}
	if err := i.ask(ctx, fmt.Sprintf("Import %s into %s?", count(i.plan.Members, "member"), printable(i.name)), "", "yes"); err != nil {
		return err
	}
	return i.apply(ctx)
}

// read reads the guild's settings and all files.
func (i *importing) read(ctx context.Context, spool *os.File) error {
	_, document, err := i.call(ctx, request{method: http.MethodGet, path: guildPath(i.guild)})
	if err != nil {
		return err
	}
	now, err := guild.Parse(id.Guild(i.guild), document)
	if err != nil {
		return fmt.Errorf("the service's answer cannot be read: %w", err)
	}
	i.name = now.Name
	i.Import, err = importer.Read(ctx, i.open(ctx), now, importer.Choice{
		From: importer.From(i.from), SourceGuild: id.Guild(i.sourceGuild), Mode: leaderboard.PutMode(i.mode), MinLevel: level.Level(i.minLevel),
		Settings: i.settings,
	}, spool)
	return err
}

// open returns the files of the import; the board of another service counts as one.
func (i *importing) open(ctx context.Context) []importer.File {
	if i.sourceURL != "" {
		return []importer.File{{Name: i.sourceURL, Open: func() (io.ReadCloser, error) { return i.source(ctx), nil }}}
	}
	files := make([]importer.File, len(i.files))
	for n, name := range i.files {
		files[n] = importer.File{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
		if name == "-" {
			files[n] = importer.File{Name: "standard input", Open: opened(io.NopCloser(i.Stdin))}
		}
	}
	return files
}

func opened(r io.ReadCloser) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return r, nil }
}

// compare computes what would change, from an export of the guild.
func (i *importing) compare(ctx context.Context) error {
	response, err := i.client.open(ctx, request{method: http.MethodGet, path: guildPath(i.guild) + "/export?format=json"})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	export := importer.File{Name: "the service's export", Open: opened(response.Body)}
	reader := importer.Open([]importer.File{export}, importer.Options{From: importer.Lurkr, Guild: id.Guild(i.guild)})
	i.plan, err = i.Compare(ctx, reader.Rows())
	return err
}

func (i *importing) apply(ctx context.Context) error {
	bar := i.progress(i.plan.Members)
	done, checkpoint, err := i.Apply(ctx, &importTarget{i.client, i.guild}, importer.ApplyOptions{
		By: "command", Again: i.again, Wrote: func(done importer.Result) { _ = bar.Set(done.Written()) },
	})
	_ = bar.Clear()
	switch {
	case err == nil:
		return i.printDone(done, checkpoint)
	case checkpoint == "":
		return err
	}
	return fmt.Errorf("%w\nThe import is not complete: run it again to complete it, or undo it with 'levelboard checkpoint restore %s --guild %s'",
		err, checkpoint, i.guild)
}

func (i *importing) warn(text string) { i.say(slog.LevelWarn, printable(text)) }
