package cli

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
)

// newKey is the body of POST /admin/keys.
type newKey struct {
	Name       string            `json:"name"`
	OwnerID    string            `json:"ownerId"`
	Permission apikey.Permission `json:"permission"`
	GuildIDs   []string          `json:"guildIds,omitempty"`
	ExpiresAt  *time.Time        `json:"expiresAt,omitempty"`
	RateLimit  *int              `json:"rateLimit,omitempty"`
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
	created, err = read[shownKey](answer)
	return created, answer, err
}

// curl is a line for a shell. Keys and addresses hold no quotes.
func curl(key, address string) string {
	return fmt.Sprintf("curl -s -H 'X-Api-Key: %s' '%s'", key, address)
}
