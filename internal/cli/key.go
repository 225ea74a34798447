package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

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
				return p.changeGrant(ctx, &flags, grantChange{http.MethodPut, args[0], args[1], "The key %s now has access to the guild %s.\n"})
			}),
		},
		&cobra.Command{
			Use: "ungrant KEYID GUILDID", Short: "Take a key's access to a guild away", Long: "Take a key's access to a guild away. " + aboutKeyID, Args: takes("KEYID", "GUILDID"),
			RunE: p.action(func(ctx context.Context, args []string) error {
				return p.changeGrant(ctx, &flags, grantChange{http.MethodDelete, args[0], args[1], "The key %s has no access to the guild %s any more.\n"})
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

// newKey is the body of POST /admin/keys.
type newKey struct {
	Name       string            `json:"name"`
	OwnerID    string            `json:"ownerId"`
	Permission apikey.Permission `json:"permission"`
	GuildIDs   []string          `json:"guildIds,omitempty"`
	ExpiresAt  *time.Time        `json:"expiresAt,omitempty"`
	RateLimit  *int              `json:"rateLimit,omitempty"`
}

// shownKey is a key as /admin/keys answers it.
type shownKey struct {
	ID         string            `json:"id"`
	Key        string            `json:"key"` // only in the answer to its creation
	Name       string            `json:"name"`
	OwnerID    string            `json:"ownerId"`
	Permission apikey.Permission `json:"permission"`
	GuildIDs   []string          `json:"guildIds"`
	ExpiresAt  *time.Time        `json:"expiresAt"`
	RateLimit  *int              `json:"rateLimit"`
}

func (p *program) keyCreateCommand(flags *clientFlags) *cobra.Command {
	var key newKey
	var permission, expires string
	var rateLimit int
	create := &cobra.Command{
		Use:   "create --name NAME --owner USERID --permission read|read_write",
		Short: "Create a key and print it, once",
		Args:  takes(),
	}
	create.RunE = p.action(func(ctx context.Context, _ []string) error {
		key.Permission = apikey.Permission(permission)
		if create.Flags().Changed("expires") {
			valid, err := validity(expires)
			if err != nil {
				return err
			}
			at := time.Now().Add(valid).UTC().Truncate(time.Millisecond)
			key.ExpiresAt = &at
		}
		if create.Flags().Changed("rate-limit") {
			key.RateLimit = &rateLimit
		}
		if err := key.check(); err != nil {
			return err
		}
		return p.createKey(ctx, flags, key)
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

const (
	// day is what --expires means by one: expiries are in UTC, whose days are all as long.
	day = 24 * time.Hour
	// maxDays is how many of them a Duration holds.
	maxDays = int64(math.MaxInt64 / day)
)

// validity reads the value of --expires: whole days, or a duration as Go writes them.
func validity(text string) (valid time.Duration, err error) {
	if digits, inDays := strings.CutSuffix(text, "d"); inDays {
		var days int64
		days, err = strconv.ParseInt(digits, 10, 64)
		if days > maxDays {
			return 0, usage("--expires takes at most %dd; leave it out for a key that never expires", maxDays)
		}
		valid = time.Duration(max(days, 0)) * day
	} else {
		valid, err = time.ParseDuration(text)
	}
	switch {
	case err != nil:
		return 0, usage("--expires takes hours or days, such as 720h or 30d")
	case valid <= 0:
		return 0, usage("--expires must be a time from now, such as 720h or 30d")
	}
	return valid, nil
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

func (p *program) createKey(ctx context.Context, flags *clientFlags, key newKey) error {
	client, err := p.client(flags)
	if err != nil {
		return err
	}
	created, answer, err := client.createKey(ctx, key)
	if err != nil {
		return err
	}
	if flags.json {
		return p.printJSON(answer)
	}
	p.printf("Created the key %s (%s), %s.\n\n  %s\n\nThis is the only time that it is shown: keep it now.\n", created.ID,
		printable(created.Name), created.terms(), created.Key)
	if len(created.GuildIDs) == 0 {
		p.printf("It has access to no guild yet: levelboard key grant %s GUILDID\n", created.ID)
		return nil
	}
	p.printf("To try it:\n\n  %s\n", curl(created.Key, fmt.Sprintf("%s/v2/levels/%s?page=1", client.base, created.GuildIDs[0])))
	return nil
}

func (c *adminClient) createKey(ctx context.Context, key newKey) (created shownKey, answer []byte, err error) {
	body, err := json.Marshal(key)
	if err != nil {
		return created, nil, fmt.Errorf("create a key: %w", err)
	}
	if _, answer, err = c.call(ctx, http.MethodPost, "/admin/keys", body); err != nil {
		return created, nil, err
	}
	if err := json.Unmarshal(answer, &created); err != nil {
		return created, nil, fmt.Errorf("the service's answer cannot be read: %w", err)
	}
	return created, answer, nil
}

// terms are the key's permission, expiry and limit in words.
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
	return "expires " + k.ExpiresAt.UTC().Format(time.RFC3339)
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

// curl is a line for a shell. Keys and addresses hold no quotes.
func curl(key, address string) string {
	return fmt.Sprintf("curl -s -H 'X-Api-Key: %s' '%s'", key, address)
}

func (p *program) listKeys(ctx context.Context, flags *clientFlags) error {
	client, err := p.client(flags)
	if err != nil {
		return err
	}
	items, err := client.list(ctx, "/admin/keys", "keys")
	if err != nil {
		return err
	}
	if flags.json {
		return p.printList("keys", items)
	}
	if len(items) == 0 {
		p.printf("There is no key yet; create one with 'levelboard key create'.\n")
		return nil
	}
	var rows [][]string
	for _, item := range items {
		var k shownKey
		if err := json.Unmarshal(item, &k); err != nil {
			return fmt.Errorf("the service's answer cannot be read: %w", err)
		}
		guilds := joined(k.GuildIDs)
		if len(k.GuildIDs) > 2 {
			guilds = count(len(k.GuildIDs), "guild")
		}
		rows = append(rows, []string{k.ID, printable(k.Name), k.OwnerID, string(k.Permission), guilds, k.limit(), k.expiry()})
	}
	return writeTable(p.Stdout, []string{"ID", "NAME", "OWNER", "PERMISSION", "GUILDS", "LIMIT", "EXPIRY"}, rows)
}

// grantChange is a change of a key's access to a guild, and the sentence that says that it was made.
type grantChange struct {
	method, key, guild string
	done               string
}

func (p *program) changeGrant(ctx context.Context, flags *clientFlags, change grantChange) error {
	if !id.Valid(change.guild) {
		return usage("a guild's id %w", id.ErrSnowflake)
	}
	keyID, err := keyIDIn(change.key)
	if err != nil {
		return err
	}
	client, err := p.client(flags)
	if err != nil {
		return err
	}
	_, _, err = client.call(ctx, change.method, keyPath(keyID)+"/guilds/"+change.guild, nil)
	if err != nil || flags.json { // the answer is empty
		return err
	}
	p.printf(change.done, keyID, change.guild)
	return nil
}

func (p *program) revokeKey(ctx context.Context, flags *clientFlags, key string) error {
	keyID, err := keyIDIn(key)
	if err != nil {
		return err
	}
	client, err := p.client(flags)
	if err != nil {
		return err
	}
	_, _, err = client.call(ctx, http.MethodDelete, keyPath(keyID), nil)
	if err != nil || flags.json { // the answer is empty
		return err
	}
	p.printf("Revoked the key %s.\n", keyID)
	return nil
}

// keyIDIn finds the id in what was given for KEYID. What holds none is not sent, nor repeated: it may be most of a secret.
func keyIDIn(given string) (string, error) {
	keyID, err := apikey.IDIn(given)
	if err != nil {
		return "", usage("what was given for KEYID is no key's id, nor a key's first 15 characters: 'levelboard key list' lists them")
	}
	return keyID, nil
}

// keyPath is the key's address; an id needs no escaping.
func keyPath(keyID string) string { return "/admin/keys/" + keyID }
