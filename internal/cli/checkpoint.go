package cli

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// checkpoint is a checkpoint in the service's answer.
type checkpoint struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
	Members   int       `json:"members"`
	Automatic bool      `json:"automatic"`
}

func (c checkpoint) row() []string {
	made := "by hand"
	if c.Automatic {
		made = "automatic"
	}
	return []string{c.ID, at(c.CreatedAt), strconv.Itoa(c.Members), made, c.Name}
}

func checkpointsPath(guild string) string { return guildPath(guild) + "/checkpoints" }

func (p *program) checkpointCommand() *cobra.Command {
	c := &client{program: p}
	var name string
	create := p.forGuild("create --name NAME", "Copy all members of a guild into a new checkpoint", func(ctx context.Context, guild string, _ []string) error {
		r := request{method: http.MethodPost, path: checkpointsPath(guild), body: map[string]string{"name": name}}
		return show(ctx, c, r, func(made checkpoint) error {
			return p.printf("Made the checkpoint %s (%s, %s, %s).\n", made.ID, printable(made.Name), at(made.CreatedAt), count(made.Members, "member"))
		})
	})
	create.Flags().StringVar(&name, "name", "", "what it is for, 1 to 100 characters")
	_ = create.MarkFlagRequired("name")
	return c.flags(p.group("checkpoint", "Keep copies of a guild's members, and put them back",
		create,
		p.forGuild("list", "List a guild's checkpoints, newest first", func(ctx context.Context, guild string, _ []string) error {
			return list(ctx, c, listing[checkpoint]{
				path: checkpointsPath(guild), name: "checkpoints", none: "There is no checkpoint yet; make one with 'levelboard checkpoint create'.",
				header: []string{"ID", "CREATED", "MEMBERS", "MADE", "NAME"}, row: checkpoint.row,
			})
		}),
		c.asks(p.forGuild("restore ID", "Replace a guild's members by those of a checkpoint, after a new checkpoint", c.restoreCheckpoint)),
		c.asks(p.forGuild("delete ID", "Delete a checkpoint", c.deleteCheckpoint)),
	))
}

// checkpointPath returns a checkpoint's path. It checks the id, so that it needs no escaping.
func checkpointPath(guild, checkpoint string) (string, error) {
	if _, err := strconv.ParseUint(checkpoint, 10, 64); err != nil {
		return "", usage("a checkpoint's id is a number: 'levelboard checkpoint list' lists them")
	}
	return checkpointsPath(guild) + "/" + checkpoint, nil
}

func (c *client) restoreCheckpoint(ctx context.Context, guild string, args []string) error {
	path, err := checkpointPath(guild, args[0])
	if err == nil {
		err = c.ask(ctx, "Replace all members of %s by those of the checkpoint "+args[0]+"?", guild, args[0])
	}
	if err != nil {
		return err
	}
	return c.replace(ctx, guild, path+"/restore")
}

func (c *client) deleteCheckpoint(ctx context.Context, guild string, args []string) error {
	path, err := checkpointPath(guild, args[0])
	if err == nil {
		err = c.ask(ctx, "Delete the checkpoint "+args[0]+"? This cannot be undone.", "", args[0])
	}
	if err != nil {
		return err
	}
	return c.send(ctx, http.MethodDelete, path, "Deleted the checkpoint %s.", args[0])
}

func (p *program) resetCommand() *cobra.Command {
	c := &client{program: p}
	reset := func(ctx context.Context, guild string, _ []string) error {
		if err := c.ask(ctx, "Remove all members of %s ("+guild+")?", guild, guild); err != nil {
			return err
		}
		return c.replace(ctx, guild, guildPath(guild)+"/reset")
	}
	return c.flags(c.asks(p.forGuild("reset", "Remove all members of a guild, after a new checkpoint", reset)))
}

// replace sends a request that replaces all members of a guild.
func (c *client) replace(ctx context.Context, guild, path string) error {
	type replaced struct {
		Members    int        `json:"members"`
		Checkpoint checkpoint `json:"checkpoint"`
	}
	return show(ctx, c, request{method: http.MethodPost, path: path}, func(r replaced) error {
		return c.printf("The guild has %s now; it had %s.\n%s", count(r.Members, "member"), count(r.Checkpoint.Members, "member"),
			undoLine(r.Checkpoint.ID, guild))
	})
}

// undoLine says how to restore the checkpoint's members.
func undoLine(checkpoint, guild string) string {
	return fmt.Sprintf("To undo it: levelboard checkpoint restore %s --guild %s\n", checkpoint, guild)
}
