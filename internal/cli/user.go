package cli

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"levelboard/internal/domain/id"
)

// storedUser is what is stored about a user, as the service answers it.
type storedUser struct {
	UserID string `json:"userId"`
	Guilds []struct {
		ID           string `json:"id"`
		XP           int64  `json:"xp"`
		Level        int64  `json:"level"`
		MessageCount int64  `json:"messageCount"`
		Present      bool   `json:"present"`
		User         struct {
			Username string `json:"username"`
		} `json:"user"`
	} `json:"guilds"`
	Keys []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"keys"`
	Sessions     int `json:"sessions"`
	AuditRecords int `json:"auditRecords"`
}

func (p *program) userCommand() *cobra.Command {
	var flags clientFlags
	var yes bool
	group := p.group("user", "Show or erase what is stored about a user")
	flags.register(group)
	command := func(use, short string, work func(ctx context.Context, user string) error) *cobra.Command {
		cmd := &cobra.Command{Use: use + " ID", Short: short, Args: takes("ID")}
		cmd.RunE = p.action(func(ctx context.Context, args []string) error {
			if !id.Valid(args[0]) {
				return usage("a user's id must be 17 to 19 digits")
			}
			return work(ctx, args[0])
		})
		group.AddCommand(cmd)
		return cmd
	}
	command("show", "Show all that is stored about a user", func(ctx context.Context, user string) error { return p.showUser(ctx, &flags, user) })
	erase := command("erase", "Erase all that is stored about a user", func(ctx context.Context, user string) error { return p.eraseUser(ctx, &flags, user, yes) })
	erase.Long = "Erase all that is stored about a user, in all guilds, checkpoints and logs. It cannot be undone. " + aboutAsking
	yesFlag(erase, &yes)
	return group
}

func userPath(user string) string { return "/admin/users/" + user }

func (p *program) showUser(ctx context.Context, flags *clientFlags, user string) error {
	client, err := p.slowClient(flags)
	if err != nil {
		return err
	}
	_, answer, err := client.call(ctx, http.MethodGet, userPath(user), nil)
	if err != nil {
		return err
	}
	return show(p, flags, answer, p.tableOfUser)
}

func (p *program) tableOfUser(u storedUser) error {
	p.printf("User %s: %s, %s, %s, %s\n", u.UserID, count(len(u.Guilds), "guild"), count(len(u.Keys), "key"), count(u.Sessions, "session"),
		count(u.AuditRecords, "audit record"))
	if len(u.Guilds) > 0 {
		rows := make([][]string, len(u.Guilds))
		for i, g := range u.Guilds {
			present := "yes"
			if !g.Present {
				present = "no"
			}
			rows[i] = []string{g.ID, strconv.FormatInt(g.XP, 10), strconv.FormatInt(g.Level, 10), strconv.FormatInt(g.MessageCount, 10), present, printable(g.User.Username)}
		}
		if err := writeTable(p.Stdout, []string{"GUILD", "XP", "LEVEL", "MESSAGES", "PRESENT", "USERNAME"}, rows); err != nil {
			return err
		}
	}
	if len(u.Keys) == 0 {
		return nil
	}
	rows := make([][]string, len(u.Keys))
	for i, k := range u.Keys {
		rows[i] = []string{k.ID, printable(k.Name)}
	}
	return writeTable(p.Stdout, []string{"KEY", "NAME"}, rows)
}

func (p *program) eraseUser(ctx context.Context, flags *clientFlags, user string, yes bool) error {
	if err := p.ask(yes, func() (string, string, error) {
		return fmt.Sprintf("Erase everything about the user %s, their API keys included? This cannot be undone.", user), user, nil
	}); err != nil {
		return err
	}
	client, err := p.slowClient(flags)
	if err != nil {
		return err
	}
	if _, _, err := client.call(ctx, http.MethodDelete, userPath(user), nil); err != nil {
		return err
	}
	if !flags.json {
		p.printf("Erased the user %s.\n", user)
	}
	return nil
}
