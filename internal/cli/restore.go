package cli

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"
)

// target is a checkpoint of a guild, as it was given.
type target struct{ guild, checkpoint string }

// path is its address; the id is checked, so it needs no escaping.
func (t target) path() (string, error) {
	if _, err := strconv.ParseUint(t.checkpoint, 10, 64); err != nil {
		return "", usage("a checkpoint's id is a number: 'levelboard checkpoint list' lists them")
	}
	return checkpointsPath(t.guild) + "/" + t.checkpoint, nil
}

func (p *program) restoreCheckpoint(ctx context.Context, flags *clientFlags, t target, yes bool) error {
	path, err := t.path()
	if err != nil {
		return err
	}
	if err := p.ask(yes, func() (string, string, error) {
		name, err := p.guildName(ctx, flags, "/admin/guilds/"+t.guild)
		return fmt.Sprintf("Put the checkpoint %s in place of all members of %s?", t.checkpoint, name), t.checkpoint, err
	}); err != nil {
		return err
	}
	return p.replace(ctx, flags, t.guild, path+"/restore")
}

func (p *program) deleteCheckpoint(ctx context.Context, flags *clientFlags, t target, yes bool) error {
	path, err := t.path()
	if err != nil {
		return err
	}
	if err := p.ask(yes, func() (string, string, error) {
		return fmt.Sprintf("Delete the checkpoint %s? This cannot be undone.", t.checkpoint), t.checkpoint, nil
	}); err != nil {
		return err
	}
	return p.send(ctx, flags, http.MethodDelete, path, "Deleted the checkpoint "+t.checkpoint+".")
}

func (p *program) resetCommand() *cobra.Command {
	var flags clientFlags
	var guild string
	var yes bool
	reset := &cobra.Command{
		Use: "reset --guild ID", Short: "Remove all members of a guild, after a checkpoint", Args: takes(),
		Long: "Remove all members of a guild, after a checkpoint of them. " + aboutAsking,
		RunE: p.action(func(ctx context.Context, _ []string) error { return p.resetGuild(ctx, &flags, guild, yes) }),
	}
	flags.register(reset)
	guildFlag(reset, &guild)
	yesFlag(reset, &yes)
	return reset
}

func (p *program) resetGuild(ctx context.Context, flags *clientFlags, guild string, yes bool) error {
	address, err := guildPath(guild)
	if err != nil {
		return err
	}
	if err := p.ask(yes, func() (string, string, error) {
		name, err := p.guildName(ctx, flags, address)
		return fmt.Sprintf("Remove all members of %s (%s)?", name, guild), guild, err
	}); err != nil {
		return err
	}
	return p.replace(ctx, flags, guild, address+"/reset")
}

// replace asks for what puts others in place of all members of a guild.
func (p *program) replace(ctx context.Context, flags *clientFlags, guild, path string) error {
	client, err := p.slowClient(flags)
	if err != nil {
		return err
	}
	_, answer, err := client.call(ctx, http.MethodPost, path, nil)
	if err != nil {
		return err
	}
	return show(p, flags, answer, func(r replaced) error {
		p.printf("The guild has %s now; it had %s.\n%s", count(r.Members, "member"), count(r.Checkpoint.Members, "member"), undoLine(r.Checkpoint.ID, guild))
		return nil
	})
}

// undoLine says how to put the members back that a checkpoint has.
func undoLine(checkpoint, guild string) string {
	return fmt.Sprintf("To undo it: levelboard checkpoint restore %s --guild %s\n", checkpoint, guild)
}
