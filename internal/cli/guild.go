package cli

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"levelboard/internal/domain/id"
)

func (p *program) guildCommand() *cobra.Command {
	var flags clientFlags
	group := p.group("guild", "Manage the guilds of a running service")
	flags.register(group)

	var file string
	apply := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Create a guild or replace its settings, from a JSON document",
		Long: "Create a guild or replace its settings, from a JSON document as 'levelboard guild get ID --json' prints\n" +
			"it. The document's id says which guild. -f - reads standard input.\n\n" +
			"What the document leaves out gets its default. timeZone is a name such as Europe/Berlin:\n" +
			"'timedatectl list-timezones' lists them. The minimum:\n\n" + `  {"id":"…","name":"…","memberCount":1,"ownerId":"…"}`,
		Args: takes(),
		RunE: p.action(func(ctx context.Context, _ []string) error { return p.applyGuild(ctx, &flags, file) }),
	}
	apply.Flags().StringVarP(&file, "file", "f", "", "file with the document, or - for standard input")
	_ = apply.MarkFlagRequired("file")

	var sure bool
	remove := &cobra.Command{
		Use: "delete ID", Short: "Delete a guild with all its members", Args: takes("ID"),
		Long: "Delete a guild with all its members and checkpoints. " + aboutAsking,
		RunE: p.action(func(ctx context.Context, args []string) error { return p.deleteGuild(ctx, &flags, args[0], sure) }),
	}
	yesFlag(remove, &sure)

	group.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the guilds", Args: takes(),
			RunE: p.action(func(ctx context.Context, _ []string) error { return p.listGuilds(ctx, &flags) }),
		},
		&cobra.Command{
			Use: "get ID", Short: "Show a guild's settings", Args: takes("ID"),
			RunE: p.action(func(ctx context.Context, args []string) error { return p.getGuild(ctx, &flags, args[0]) }),
		},
		apply,
		remove,
	)
	return group
}

func (p *program) listGuilds(ctx context.Context, flags *clientFlags) error {
	return printList(ctx, p, flags, listing[guildDocument]{
		path: "/admin/guilds", name: "guilds", none: "There is no guild yet; create one with 'levelboard guild apply -f FILE'.",
		header: []string{"ID", "NAME", "MEMBERS", "BOARD", "LEVELING"},
		row: func(g guildDocument) []string {
			return []string{string(g.ID), printable(g.Name), fmt.Sprint(g.MemberCount), g.board(), g.leveling()}
		},
	})
}

func (p *program) getGuild(ctx context.Context, flags *clientFlags, guild string) error {
	path, err := guildPath(guild)
	if err != nil {
		return err
	}
	_, answer, err := p.call(ctx, flags, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return show(p, flags, answer, func(g guildDocument) error {
		p.printf("%s\n", printable(g.Name))
		return writeTable(p.Stdout, nil, append(g.facts(), g.running(time.Now())...))
	})
}

func (p *program) applyGuild(ctx context.Context, flags *clientFlags, file string) error {
	document, guild, err := p.readDocument(file)
	if err != nil {
		return err
	}
	path, err := guildPath(guild)
	if err != nil {
		return fmt.Errorf("the id of %s %w", documentName(file), id.ErrSnowflake)
	}
	status, answer, err := p.call(ctx, flags, http.MethodPut, path, document)
	if err != nil {
		return err
	}
	return show(p, flags, answer, func(g guildDocument) error {
		done := "Updated"
		if status == http.StatusCreated {
			done = "Created"
		}
		p.printf("%s the guild %s (%s): board %s, leveling %s.\n", done, printable(g.Name), g.ID, g.board(), g.leveling())
		return nil
	})
}

func (p *program) deleteGuild(ctx context.Context, flags *clientFlags, guild string, sure bool) error {
	path, err := guildPath(guild)
	if err != nil {
		return err
	}
	if err := p.ask(sure, func() (string, string, error) {
		name, err := p.guildName(ctx, flags, path)
		return fmt.Sprintf("Delete %s (%s) with all its members? This cannot be undone.", name, guild), guild, err
	}); err != nil {
		return err
	}
	return p.send(ctx, flags, http.MethodDelete, path, "Deleted the guild "+guild+" with all its members.")
}

// guildName reads the name of the guild at path, for a question.
func (p *program) guildName(ctx context.Context, flags *clientFlags, path string) (string, error) {
	_, answer, err := p.call(ctx, flags, http.MethodGet, path, nil)
	if err != nil {
		return "", err
	}
	g, err := read[guildDocument](answer)
	return printable(g.Name), err
}

// guildPath is the guild's address; the id is checked, so it needs no escaping.
func guildPath(guild string) (string, error) {
	if !id.Valid(guild) {
		return "", usage("a guild's id %w", id.ErrSnowflake)
	}
	return "/admin/guilds/" + guild, nil
}
