package cli

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
)

func (p *program) keyCommand() *cobra.Command {
	c := &client{program: p}
	named := func(use, short string, work func(ctx context.Context, key string, args []string) error) *cobra.Command {
		cmd := p.command(use, short, func(ctx context.Context, args []string) error {
			// Do not send or repeat a text without an id: it may be most of a secret.
			key, err := apikey.IDIn(args[0])
			if err != nil {
				return usage("KEYID is not a key's id, nor its first 15 characters: 'levelboard key list' lists them")
			}
			return work(ctx, key, args[1:])
		})
		cmd.Long = short + ". KEYID is what 'key list' shows, or the key's first 15 characters."
		return cmd
	}
	granting := func(method, done string) func(ctx context.Context, key string, args []string) error {
		return func(ctx context.Context, key string, args []string) error {
			if !id.Valid(args[0]) {
				return errGuildID
			}
			return c.send(ctx, method, keyPath(key)+"/guilds/"+args[0], done, key, args[0])
		}
	}
	return c.flags(p.group("key", "Manage the API keys of a running service",
		c.keyCreateCommand(),
		p.command("list", "List the keys, without their secrets", func(ctx context.Context, _ []string) error {
			return list(ctx, c, listing[shownKey]{
				path: "/admin/keys", name: "keys", next: "after", none: "There is no key yet; create one with 'levelboard key create'.",
				header: []string{"ID", "NAME", "OWNER", "PERMISSION", "GUILDS", "LIMIT", "EXPIRY"}, row: shownKey.row,
			})
		}),
		named("grant KEYID GUILDID", "Give a key access to a guild", granting(http.MethodPut, "The key %s now has access to the guild %s.")),
		named("ungrant KEYID GUILDID", "Take a key's access to a guild away",
			granting(http.MethodDelete, "The key %s no longer has access to the guild %s.")),
		named("revoke KEYID", "Revoke a key for good", func(ctx context.Context, key string, _ []string) error {
			return c.send(ctx, http.MethodDelete, keyPath(key), "Revoked the key %s.", key)
		}),
	))
}

// keyPath returns the key's path; an id needs no escaping.
func keyPath(key string) string { return "/admin/keys/" + key }

// shownKey is a key in the answers of /admin/keys.
type shownKey struct {
	ID         string            `json:"id"`
	Key        string            `json:"key"` // only in the answer that created it
	Name       string            `json:"name"`
	OwnerID    string            `json:"ownerId"`
	Permission apikey.Permission `json:"permission"`
	GuildIDs   []string          `json:"guildIds"`
	ExpiresAt  *time.Time        `json:"expiresAt"`
	RateLimit  *int              `json:"rateLimit"`
}

func (k shownKey) row() []string {
	guilds := joined(k.GuildIDs)
	if len(k.GuildIDs) > 2 {
		guilds = count(len(k.GuildIDs), "guild")
	}
	return []string{k.ID, k.Name, k.OwnerID, string(k.Permission), guilds, k.limit(), k.expiry()}
}

// terms returns the key's permission, expiry and limit in words.
func (k shownKey) terms() string {
	text := string(k.Permission) + ", access to " + count(len(k.GuildIDs), "guild") + ", " + k.expiry()
	if k.RateLimit != nil {
		text += ", " + k.limit()
	}
	return text
}

func (k shownKey) expiry() string {
	if k.ExpiresAt == nil {
		return "never expires"
	}
	return "expires " + at(*k.ExpiresAt)
}

func (k shownKey) limit() string {
	switch {
	case k.RateLimit == nil:
		return "default"
	case *k.RateLimit == 0:
		return "no limit"
	default:
		return strconv.Itoa(*k.RateLimit) + " a minute"
	}
}

// newKey is the body of POST /admin/keys.
type newKey struct {
	Name       string            `json:"name"`
	OwnerID    string            `json:"ownerId"`
	Permission apikey.Permission `json:"permission"`
	GuildIDs   []string          `json:"guildIds,omitempty"`
	ExpiresAt  *time.Time        `json:"expiresAt,omitempty"`
	RateLimit  *int              `json:"rateLimit,omitempty"`
}

func (c *client) keyCreateCommand() *cobra.Command {
	var key newKey
	var permission, expires string
	var rateLimit int
	var create *cobra.Command
	create = c.command("create --name NAME --owner USERID --permission read|read_write", "Create a key and print it, once",
		func(ctx context.Context, _ []string) error {
			key.Permission = apikey.Permission(permission)
			if create.Flags().Changed("expires") {
				valid, err := lasting("--expires", expires)
				if err != nil {
					return err
				}
				key.ExpiresAt = new(time.Now().Add(valid).UTC().Truncate(time.Millisecond))
			}
			if create.Flags().Changed("rate-limit") {
				key.RateLimit = &rateLimit
			}
			if err := key.check(); err != nil {
				return err
			}
			return show(ctx, c, key.request(), c.printKey)
		})
	f := create.Flags()
	f.StringVar(&key.Name, "name", "", "what the key is for")
	f.StringVar(&key.OwnerID, "owner", "", "id of the user it belongs to")
	f.StringVar(&permission, "permission", "", "read or read_write")
	f.StringSliceVar(&key.GuildIDs, "guild", nil, "id of a guild it has access to; may be repeated (default none)")
	f.StringVar(&expires, "expires", "", "for how much `time` it is valid, such as 720h or 30d (default for ever)")
	f.IntVar(&rateLimit, "rate-limit", 0, "its own limit of requests a minute, 0 for none (default the service's)")
	for _, name := range []string{"name", "owner", "permission"} {
		_ = create.MarkFlagRequired(name)
	}
	return create
}

func (k newKey) request() request {
	return request{method: http.MethodPost, path: "/admin/keys", body: k}
}

func (k newKey) check() error {
	if k.Permission != apikey.Read && k.Permission != apikey.ReadWrite {
		return usage("--permission must be %s or %s", apikey.Read, apikey.ReadWrite)
	}
	if !id.Valid(k.OwnerID) {
		return usage("--owner %w", id.ErrSnowflake)
	}
	for _, g := range k.GuildIDs {
		if !id.Valid(g) {
			return usage("--guild %w", id.ErrSnowflake)
		}
	}
	if k.RateLimit != nil && *k.RateLimit < 0 {
		return usage("--rate-limit must be 0 or more")
	}
	return nil
}

// printKey prints a key that was created.
func (c *client) printKey(key shownKey) error {
	try := fmt.Sprintf("It has access to no guild yet: levelboard key grant %s GUILDID\n", key.ID)
	if len(key.GuildIDs) > 0 {
		try = fmt.Sprintf("To try it:\n\n  %s\n", curl(key.Key, fmt.Sprintf("%s/v2/levels/%s?page=1", c.base, key.GuildIDs[0])))
	}
	return c.printf("Created the key %s (%s), %s.\n\n  %s\n\nThis is the only time that it is shown: keep it now.\n%s", key.ID, printable(key.Name),
		key.terms(), key.Key, try)
}

// curl returns a command for a shell. Keys and addresses contain no quotes.
func curl(key, address string) string {
	return fmt.Sprintf("curl -s -H 'X-Api-Key: %s' '%s'", key, address)
}

// lasting reads a flag for a duration: whole days of 24 hours, or a duration in Go's syntax.
func lasting(flag, text string) (time.Duration, error) {
	if digits, inDays := strings.CutSuffix(text, "d"); inDays {
		days, _ := strconv.ParseInt(digits, 10, 32) // 0 if it is no number; that is rejected below
		text = fmt.Sprintf("%dh", 24*days)
	}
	lasts, err := time.ParseDuration(text)
	if err != nil || lasts <= 0 {
		return 0, usage("%s takes hours or days, such as 720h or 30d", flag)
	}
	return lasts, nil
}
