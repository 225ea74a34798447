package cli

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

// checkpoint is one as the service answers it.
type checkpoint struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
	Members   int       `json:"members"`
	Automatic bool      `json:"automatic"`
}

func (c checkpoint) String() string {
	return fmt.Sprintf("%s (%s, %s, %s)", c.ID, printable(c.Name), c.CreatedAt.UTC().Format(time.RFC3339), count(c.Members, "member"))
}

// replaced is the service's answer to a restore and to a reset.
type replaced struct {
	Members    int        `json:"members"`
	Checkpoint checkpoint `json:"checkpoint"`
}

func (p *program) checkpointCommand() *cobra.Command {
	var flags clientFlags
	var guild, name string
	var yes bool
	group := p.group("checkpoint", "Keep copies of a guild's members, and put them back")
	flags.register(group)
	command := func(use, short string, args cobra.PositionalArgs, work func(ctx context.Context, guild string, args []string) error) *cobra.Command {
		cmd := &cobra.Command{Use: use + " --guild ID", Short: short, Args: args}
		guildFlag(cmd, &guild)
		cmd.RunE = p.action(func(ctx context.Context, args []string) error {
			if _, err := guildPath(guild); err != nil {
				return err
			}
			return work(ctx, guild, args)
		})
		group.AddCommand(cmd)
		return cmd
	}

	create := command("create --name NAME", "Keep all members as they are", takes(), func(ctx context.Context, guild string, _ []string) error {
		return p.createCheckpoint(ctx, &flags, guild, name)
	})
	create.Flags().StringVar(&name, "name", "", "what it is for, 1 to 100 characters")
	_ = create.MarkFlagRequired("name")
	command("list", "List a guild's checkpoints, newest first", takes(), func(ctx context.Context, guild string, _ []string) error {
		return p.listCheckpoints(ctx, &flags, guild)
	})
	restore := command("restore ID", "Put a checkpoint in place of the members", takes("ID"), func(ctx context.Context, guild string, args []string) error {
		return p.restoreCheckpoint(ctx, &flags, target{guild, args[0]}, yes)
	})
	restore.Long = "Put a checkpoint in place of the guild's members, after a checkpoint of those. " + aboutAsking
	yesFlag(restore, &yes)
	remove := command("delete ID", "Delete a checkpoint", takes("ID"), func(ctx context.Context, guild string, args []string) error {
		return p.deleteCheckpoint(ctx, &flags, target{guild, args[0]}, yes)
	})
	remove.Long = "Delete a checkpoint. " + aboutAsking
	yesFlag(remove, &yes)
	return group
}

// guildFlag registers --guild, which is required.
func guildFlag(cmd *cobra.Command, guild *string) {
	cmd.Flags().StringVar(guild, "guild", "", "id of the guild")
	_ = cmd.MarkFlagRequired("guild")
}

// checkpointsPath is the address of a guild's checkpoints.
func checkpointsPath(guild string) string { return "/admin/guilds/" + guild + "/checkpoints" }

func (p *program) createCheckpoint(ctx context.Context, flags *clientFlags, guild, name string) error {
	body, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		return usage("--name must be UTF-8")
	}
	client, err := p.slowClient(flags)
	if err != nil {
		return err
	}
	_, answer, err := client.call(ctx, http.MethodPost, checkpointsPath(guild), body)
	if err != nil {
		return err
	}
	return show(p, flags, answer, func(made checkpoint) error {
		p.printf("Made the checkpoint %s.\n", made)
		return nil
	})
}

// show prints the service's answer as it is, or lets say print its content for people.
func show[T any](p *program, flags *clientFlags, answer []byte, say func(T) error) error {
	if flags.json {
		return p.printJSON(answer)
	}
	found, err := read[T](answer)
	if err != nil {
		return err
	}
	return say(found)
}

type checkpointList struct {
	Checkpoints []checkpoint `json:"checkpoints"`
}

func (p *program) listCheckpoints(ctx context.Context, flags *clientFlags, guild string) error {
	_, answer, err := p.call(ctx, flags, http.MethodGet, checkpointsPath(guild), nil)
	if err != nil {
		return err
	}
	return show(p, flags, answer, p.tableOfCheckpoints)
}

func (p *program) tableOfCheckpoints(list checkpointList) error {
	if len(list.Checkpoints) == 0 {
		p.printf("There is no checkpoint yet; make one with 'levelboard checkpoint create'.\n")
		return nil
	}
	rows := make([][]string, len(list.Checkpoints))
	for i, c := range list.Checkpoints {
		made := "by hand"
		if c.Automatic {
			made = "automatic"
		}
		rows[i] = []string{c.ID, c.CreatedAt.UTC().Format(time.RFC3339), strconv.Itoa(c.Members), made, printable(c.Name)}
	}
	return writeTable(p.Stdout, []string{"ID", "CREATED", "MEMBERS", "MADE", "NAME"}, rows)
}
