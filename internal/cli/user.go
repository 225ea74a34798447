package cli

import (
	"context"
	"fmt"
	"net/http"

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
	c := &client{program: p}
	command := func(use, short string, work func(ctx context.Context, user string) error) *cobra.Command {
		return p.command(use, short, func(ctx context.Context, args []string) error {
			if !id.Valid(args[0]) {
				return errUserID
			}
			return work(ctx, args[0])
		})
	}
	return c.flags(p.group("user", "Show or erase what is stored about a user",
		command("show ID", "Show all that is stored about a user", func(ctx context.Context, user string) error {
			return show(ctx, c, request{method: http.MethodGet, path: "/admin/users/" + user}, c.printUser)
		}),
		c.asks(command("erase ID", "Erase all that is stored about a user, in all guilds, checkpoints and logs", c.eraseUser)),
	))
}

func (c *client) eraseUser(ctx context.Context, user string) error {
	if err := c.ask(ctx, "Erase everything about the user "+user+", their API keys included? This cannot be undone.", "", user); err != nil {
		return err
	}
	return c.send(ctx, http.MethodDelete, "/admin/users/"+user, "Erased the user %s.", user)
}

var errUserID = usage("a user's id %w", id.ErrSnowflake)

func (c *client) printUser(u storedUser) error {
	err := c.printf("User %s: %s, %s, %s, %s\n", u.UserID, count(len(u.Guilds), "guild"), count(len(u.Keys), "key"), count(u.Sessions, "session"),
		count(u.AuditRecords, "audit record"))
	var guilds, keys [][]string
	for _, g := range u.Guilds {
		present := "yes"
		if !g.Present {
			present = "no"
		}
		guilds = append(guilds, []string{g.ID, fmt.Sprint(g.XP), fmt.Sprint(g.Level), fmt.Sprint(g.MessageCount), present, g.User.Username})
	}
	for _, k := range u.Keys {
		keys = append(keys, []string{k.ID, k.Name})
	}
	if len(guilds) > 0 && err == nil {
		err = c.table([]string{"GUILD", "XP", "LEVEL", "MESSAGES", "PRESENT", "USERNAME"}, guilds)
	}
	if len(keys) > 0 && err == nil {
		err = c.table([]string{"KEY", "NAME"}, keys)
	}
	return err
}
