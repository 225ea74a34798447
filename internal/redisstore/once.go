package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
)

const (
	// claimTTL is longer than a record lasts that the claim's holder makes afterwards.
	claimTTL = leaderboard.OnceTTL + time.Minute
	// claimAttempts bounds how often a claim is tried that other requests take over at the same time.
	claimAttempts = 3
	// replayedWord is what a script answers before a recorded outcome (scripts/shared/once.lua).
	replayedWord = "REPLAYED"
)

var errClaim = errors.New("other requests under the same key came in between")

// runOnce is run for a script that begins with loaded and once, on a guild's members; args begin with the incarnation. When the request that once names was made before, nothing is changed, recorded is true, and the reply holds the words of the outcome
// that the script recorded then. Without a name it costs no more than run.
func (s *Store) runOnce(ctx context.Context, sc *script, g leaderboard.GuildRef, once leaderboard.Once, args ...any) (r reply, recorded bool, err error) {
	keys := keysOf(g.ID).members()
	if once.Named() {
		if err := s.claim(ctx, g.ID, once.Key); err != nil {
			return nil, false, err
		}
		keys = append(keys, keysOf(g.ID).once(once.Key))
		args = append(args, digestText(once.Request), leaderboard.OnceTTL.Milliseconds())
	}
	r, err = s.run(ctx, sc, keys, args...)
	if err != nil || r.at(0) != replayedWord {
		return r, false, err
	}
	outcome, _, err := r.text(1)
	if err != nil {
		return nil, false, fmt.Errorf("redis: %s: %w", sc.name, err)
	}
	return words(outcome), true, nil
}

// words is a text split at its spaces.
func words(text string) reply {
	var r reply
	for word := range strings.SplitSeq(text, " ") {
		r = append(r, word)
	}
	return r
}

// claim sees to it that no request of another guild was made under this key: ErrKeyReused. Records are in their guilds'
// slots, so a note in a slot of its own, written before the change, says which guild to look at. A guild that claimed the
// key and changed nothing loses it.
func (s *Store) claim(ctx context.Context, g id.Guild, key leaderboard.Digest) error {
	from := ""
	for range claimAttempts {
		r, err := s.run(ctx, claimScript, []string{claimKey(key)}, string(g), from, claimTTL.Milliseconds())
		if err != nil {
			return err
		}
		holder, held, err := r.text(0)
		if err != nil {
			return fmt.Errorf("redis: claim: %w", err)
		}
		if !held {
			return nil
		}
		made, err := s.client.Exists(ctx, keysOf(id.Guild(holder)).once(key)).Result()
		if err != nil {
			return fmt.Errorf("redis: claim: %w", err)
		}
		if made > 0 {
			return leaderboard.ErrKeyReused
		}
		from = holder
	}
	return fmt.Errorf("redis: claim: %w", errClaim)
}
