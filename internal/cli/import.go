package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// importFlags are those of import, and the files.
type importFlags struct {
	clientFlags
	guild, from, mode                 string
	sourceGuild, sourceURL, sourceKey string
	minLevel                          int
	settings, dryRun, yes, again      bool
	files                             []string
}

func (p *program) importCommand() *cobra.Command {
	var flags importFlags
	cmd := &cobra.Command{
		Use: "import FILE... --guild ID", Short: "Bring members from another bot or service",
		Long: "Import members from files of another bot (several are one import, - is standard input), or from a service that speaks this API.\n" +
			"Prints what it understood, makes a checkpoint, and says how to undo the import. If it is cut off, run it again. " + aboutAsking,
		Args: func(cmd *cobra.Command, _ []string) error {
			if missing := missingFlags(cmd); len(missing) > 0 {
				return isMissing(cmd, missing)
			}
			return nil
		},
	}
	cmd.RunE = p.action(func(ctx context.Context, files []string) error {
		flags.files = files
		if err := flags.check(p); err != nil {
			return err
		}
		return p.importMembers(ctx, &flags)
	})
	flags.register(cmd)
	guildFlag(cmd, &flags.guild)
	yesFlag(cmd, &flags.yes)
	f := cmd.Flags()
	f.StringVar(&flags.from, "from", string(importer.Auto), "`source`: "+sources())
	f.StringVar(&flags.mode, "mode", string(leaderboard.PutHigher), "what happens to members who exist: "+modes())
	f.IntVar(&flags.minLevel, "min-level", 0, "leave out members below this `level`")
	f.BoolVar(&flags.settings, "settings", false, "take the curve, rewards and rates that the files have")
	f.BoolVar(&flags.dryRun, "dry-run", false, "change nothing, show what would change")
	f.BoolVar(&flags.again, "again", false, "with --mode add: add files that were added to this guild before")
	f.StringVar(&flags.sourceURL, "source-url", "", "`address` of a service that speaks this API, in place of files")
	f.StringVar(&flags.sourceGuild, "source-guild", "", "`id` of the guild there, or in a file of all guilds")
	f.StringVar(&flags.sourceKey, "source-key", "", "API `key` for a board there that is not public")
	return cmd
}

func sources() string { return joined(importer.Sources) }

func modes() string { return joined(leaderboard.PutModes) }

// check judges the flags before anything is read.
func (f *importFlags) check(p *program) error {
	if _, err := guildPath(f.guild); err != nil {
		return err
	}
	if _, err := importer.ParseFrom(f.from); err != nil {
		return usage("--from: %w", err)
	}
	if !slices.Contains(leaderboard.PutModes, leaderboard.PutMode(f.mode)) {
		return usage("--mode must be one of %s", modes())
	}
	switch {
	case f.minLevel < 0 || f.minLevel > int(level.Max):
		return usage("--min-level must be from 0 to %d", level.Max)
	case f.sourceURL == "" && len(f.files) == 0:
		return usage("a file is missing: levelboard import FILE... --guild ID")
	case f.sourceURL != "" && len(f.files) > 0:
		return usage("give files or --source-url, not both")
	case f.sourceURL != "" && !webAddress(f.sourceURL):
		return usage("--source-url must be an http:// or https:// address")
	case f.sourceURL != "" && f.sourceGuild == "":
		return usage("--source-url needs --source-guild")
	case f.sourceGuild != "" && !id.Valid(f.sourceGuild):
		return usage("--source-guild %w", id.ErrSnowflake)
	case f.again && leaderboard.PutMode(f.mode) != leaderboard.PutAdd:
		return usage("--again is for --mode add: the other modes can be repeated anyway")
	case !f.yes && !f.dryRun && !p.canAsk():
		return errNobodyToAsk
	}
	return nil
}
