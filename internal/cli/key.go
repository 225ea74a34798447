package cli

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
)

func (p *program) keyCommand() *cobra.Command {
	var flags clientFlags
	group := p.group("key", "Manage the API keys of a running service")
	flags.register(group)
	group.AddCommand(
		p.keyCreateCommand(&flags),
		&cobra.Command{
			Use: "list", Short: "List the keys, without their secrets", Args: takes(),
			RunE: p.action(func(ctx context.Context, _ []string) error { return p.listKeys(ctx, &flags) }),
		},
		&cobra.Command{
			Use: "grant KEYID GUILDID", Short: "Give a key access to a guild", Long: "Give a key access to a guild. " + aboutKeyID, Args: takes("KEYID", "GUILDID"),
			RunE: p.action(func(ctx context.Context, args []string) error {
				return p.changeGrant(ctx, &flags, args, http.MethodPut, "The key %s now has access to the guild %s.")
			}),
		},
		&cobra.Command{
			Use: "ungrant KEYID GUILDID", Short: "Take a key's access to a guild away", Long: "Take a key's access to a guild away. " + aboutKeyID, Args: takes("KEYID", "GUILDID"),
			RunE: p.action(func(ctx context.Context, args []string) error {
				return p.changeGrant(ctx, &flags, args, http.MethodDelete, "The key %s no longer has access to the guild %s.")
			}),
		},
		&cobra.Command{
			Use: "revoke KEYID", Short: "Revoke a key for good", Long: "Revoke a key for good. " + aboutKeyID, Args: takes("KEYID"),
			RunE: p.action(func(ctx context.Context, args []string) error { return p.revokeKey(ctx, &flags, args[0]) }),
		},
	)
	return group
}

const aboutKeyID = "KEYID is what 'key list' shows, or the key's first 15 characters."

func (p *program) listKeys(ctx context.Context, flags *clientFlags) error {
	return printList(ctx, p, flags, listing[shownKey]{
		path: "/admin/keys", name: "keys", none: "There is no key yet; create one with 'levelboard key create'.",
		header: []string{"ID", "NAME", "OWNER", "PERMISSION", "GUILDS", "LIMIT", "EXPIRY"},
		row: func(k shownKey) []string {
			guilds := joined(k.GuildIDs)
			if len(k.GuildIDs) > 2 {
				guilds = count(len(k.GuildIDs), "guild")
			}
			return []string{k.ID, printable(k.Name), k.OwnerID, string(k.Permission), guilds, k.limit(), k.expiry()}
		},
	})
}

// changeGrant gives or takes a key's access to a guild, by the method, and says that in the sentence done.
func (p *program) changeGrant(ctx context.Context, flags *clientFlags, args []string, method, done string) error {
	guild := args[1]
	if !id.Valid(guild) {
		return usage("a guild's id %w", id.ErrSnowflake)
	}
	keyID, err := keyIDIn(args[0])
	if err != nil {
		return err
	}
	return p.send(ctx, flags, method, keyPath(keyID)+"/guilds/"+guild, fmt.Sprintf(done, keyID, guild))
}

func (p *program) revokeKey(ctx context.Context, flags *clientFlags, key string) error {
	keyID, err := keyIDIn(key)
	if err != nil {
		return err
	}
	return p.send(ctx, flags, http.MethodDelete, keyPath(keyID), "Revoked the key "+keyID+".")
}

// keyIDIn finds the id in what was given for KEYID. A text without an id is not sent, nor repeated: it may be most of a secret.
func keyIDIn(given string) (string, error) {
	keyID, err := apikey.IDIn(given)
	if err != nil {
		return "", usage("KEYID is not a key's id, nor its first 15 characters: 'levelboard key list' lists them")
	}
	return keyID, nil
}

// keyPath is the key's address; an id needs no escaping.
func keyPath(keyID string) string { return "/admin/keys/" + keyID }
