package loadgen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// firstOwner is the first of the ids that the keys' owners are drawn from, and owners is how many there are. No account has such
	// an id before the year 2083.
	firstOwner = 9_215_000_000_000_000_000
	owners     = 5_000_000_000_000_000
	// keySlack is for how long after the load's end a key is valid, should it not be possible to revoke it.
	keySlack = time.Hour
)

// newOwner draws somebody who owns nothing yet. The service limits owners over all their keys, so an owner that runs share would
// have each begin with what is left of the one before.
func newOwner() string { return strconv.FormatInt(firstOwner+rand.Int64N(owners), 10) }

// apiKey is a key of the run.
type apiKey struct{ id, secret string }

// makeLoadKeys makes the keys that the load is made with. They have one owner, for the load is one caller.
func (b *bench) makeLoadKeys(ctx context.Context) error {
	owner := newOwner()
	return b.makeKeys(ctx, &b.loadKeys, b.KeyLimit, func() string { return owner })
}

// makeSetupKeys makes the keys for what is done before and after the load, which a load must not be able to use up. Each has an
// owner of its own, so that its guilds can be filled and read however many others there are.
func (b *bench) makeSetupKeys(ctx context.Context) error {
	return b.makeKeys(ctx, &b.setupKeys, 0, newOwner)
}

// makeKeys makes as many keys as it takes for all guilds, each for grantsOfKey of them.
func (b *bench) makeKeys(ctx context.Context, to *[]apiKey, limit int, owner func() string) error {
	for first := 0; first < b.guilds; first += grantsOfKey {
		var guilds []string
		for guild := first; guild < min(first+grantsOfKey, b.guilds); guild++ {
			guilds = append(guilds, string(b.appendGuild(nil, guild)))
		}
		key, err := b.makeKey(ctx, map[string]any{
			"name": guildName, "ownerId": owner(), "permission": "read_write", "guildIds": guilds, "rateLimit": limit,
			"expiresAt": time.Now().Add(b.Duration + keySlack).UTC().Truncate(time.Second),
		})
		if err != nil {
			return err
		}
		*to = append(*to, key)
	}
	return nil
}

func (b *bench) makeKey(ctx context.Context, settings map[string]any) (apiKey, error) {
	request, err := json.Marshal(settings)
	if err != nil {
		return apiKey{}, fmt.Errorf("write the key's settings: %w", err)
	}
	_, answer, err := b.Admin(ctx, http.MethodPost, "/admin/keys", request)
	if err != nil {
		return apiKey{}, err
	}
	var made struct {
		ID  string `json:"id"`
		Key string `json:"key"`
	}
	if err := json.Unmarshal(answer, &made); err != nil || made.ID == "" || made.Key == "" {
		return apiKey{}, errors.New("the service's answer to the creation of a key cannot be read")
	}
	return apiKey{made.ID, made.Key}, nil
}

func (b *bench) revokeKeys(ctx context.Context) error {
	left := leftover{what: "key"}
	for _, keys := range [][]apiKey{b.loadKeys, b.setupKeys} {
		for _, key := range keys {
			if _, _, err := b.Admin(ctx, http.MethodDelete, "/admin/keys/"+url.PathEscape(key.id), nil); err != nil {
				left.add(key.id, err)
			}
		}
	}
	return left.err()
}
