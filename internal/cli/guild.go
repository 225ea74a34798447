package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
)

func (p *program) guildCommand() *cobra.Command {
	c := &client{program: p}
	var file string
	apply := p.command("apply -f FILE", "Create a guild or replace its settings, from a JSON document", func(ctx context.Context, _ []string) error {
		return c.applyGuild(ctx, file)
	})
	apply.Long = "Create a guild or replace its settings, from a JSON document as 'levelboard guild get ID --json' prints\n" +
		"it. The document's id says which guild. -f - reads standard input.\n\n" +
		"What the document leaves out gets its default. timeZone is a name such as Europe/Berlin:\n" +
		"'timedatectl list-timezones' lists them. The minimum:\n\n" + `  {"id":"…","name":"…","memberCount":1,"ownerId":"…"}`
	apply.Flags().StringVarP(&file, "file", "f", "", "file with the document, or - for standard input")
	_ = apply.MarkFlagRequired("file")
	return c.flags(p.group("guild", "Manage the guilds of a running service",
		p.command("list", "List the guilds", func(ctx context.Context, _ []string) error {
			return list(ctx, c, listing[guildDocument]{
				path: "/admin/guilds", name: "guilds", next: "after", none: "There is no guild yet; create one with 'levelboard guild apply -f FILE'.",
				header: []string{"ID", "NAME", "MEMBERS", "BOARD", "LEVELING"}, row: guildDocument.row,
			})
		}),
		p.command("get ID", "Show a guild's settings", c.getGuild),
		apply,
		c.asks(p.command("delete ID", "Delete a guild with all its members and checkpoints", c.deleteGuild)),
	))
}

func (c *client) getGuild(ctx context.Context, args []string) error {
	if !id.Valid(args[0]) {
		return errGuildID
	}
	return show(ctx, c, request{method: http.MethodGet, path: guildPath(args[0])}, func(g guildDocument) error {
		if err := c.printf("%s\n", printable(g.Name)); err != nil {
			return err
		}
		return c.table(nil, g.facts())
	})
}

func (c *client) deleteGuild(ctx context.Context, args []string) error {
	guild := args[0]
	if !id.Valid(guild) {
		return errGuildID
	}
	if err := c.ask(ctx, "Delete %s ("+guild+") with all its members? This cannot be undone.", guild, guild); err != nil {
		return err
	}
	return c.send(ctx, http.MethodDelete, guildPath(guild), "Deleted the guild %s with all its members.", guild)
}

func (c *client) applyGuild(ctx context.Context, file string) error {
	document, guild, err := c.readDocument(file)
	if err != nil {
		return err
	}
	status, answer, err := c.call(ctx, request{method: http.MethodPut, path: guildPath(guild), body: document})
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(answer)
	}
	g, err := read[guildDocument](answer)
	if err != nil {
		return err
	}
	done := "Updated"
	if status == http.StatusCreated {
		done = "Created"
	}
	return c.printf("%s the guild %s (%s): board %s, leveling %s.\n", done, printable(g.Name), g.ID, g.board(), g.leveling())
}

// maxDocument bounds a guild's document that is read; the service's limit is far lower.
const maxDocument = 1 << 20

// readDocument reads a guild's document and the id in it. The service checks all else.
func (p *program) readDocument(file string) (document []byte, guild string, err error) {
	in, name := p.Stdin, "standard input"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, "", fmt.Errorf("the guild's document cannot be opened: %w", err)
		}
		defer f.Close()
		in, name = f, file
	}
	document, err = io.ReadAll(io.LimitReader(in, maxDocument+1))
	if err != nil {
		return nil, "", fmt.Errorf("%s cannot be read: %w", name, err)
	}
	var found struct {
		ID string `json:"id"`
	}
	const other = "%s is no guild's document, as 'levelboard guild get ID --json' prints it: "
	err = json.Unmarshal(document, &found, jsontext.AllowDuplicateNames(true))
	switch {
	case len(document) > maxDocument:
		return nil, "", fmt.Errorf("%s is too long for a guild's document", name)
	case errors.As(err, new(*json.SemanticError)): // its text names Go types, and is not the same in each process
		return nil, "", fmt.Errorf(other+"it must be an object with the guild's id as text", name)
	case err != nil:
		return nil, "", fmt.Errorf(other+"%w", name, err)
	case found.ID == "":
		return nil, "", fmt.Errorf("%s has no id: add the guild's id as \"id\"", name)
	case !id.Valid(found.ID):
		return nil, "", fmt.Errorf("the id of %s %w", name, id.ErrSnowflake)
	}
	return document, found.ID, nil
}

// guildDocument is a guild's document in the answer of a service, of this version or a newer one.
type guildDocument struct{ guild.Settings }

// UnmarshalJSON skips properties that only a newer version knows.
func (g *guildDocument) UnmarshalJSON(document []byte) (err error) {
	g.Settings, err = guild.Answered(document)
	return err
}

// board describes who may read the board, and its vanity.
func (g guildDocument) board() string {
	if g.Vanity == "" {
		return string(g.Visibility)
	}
	return string(g.Visibility) + ", " + string(g.Vanity)
}

func (g guildDocument) row() []string {
	return []string{string(g.ID), g.Name, strconv.Itoa(g.MemberCount), g.board(), g.leveling()}
}

func (g guildDocument) leveling() string {
	if g.Enabled {
		return "enabled"
	}
	return "disabled"
}

// facts returns the lines of `guild get`, each a name and a value.
func (g guildDocument) facts() [][]string {
	facts := [][]string{{"  ID", string(g.ID)}}
	for _, fact := range properties.Facts(&g.Settings) {
		facts = append(facts, []string{"  " + fact.Label, cmp.Or(fact.Words, "none")})
	}
	return facts
}
