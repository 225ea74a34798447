package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// claimTTL is longer than a record lasts that the claim's holder makes afterwards.
	claimTTL = leaderboard.OnceTTL + time.Minute
	// fenceTTL is far longer than any change is under way, and shorter than a claim lasts: when claims begin at number 1 again,
	// there must be no fence left.
	fenceTTL = time.Hour
	// claimAttempts bounds how often a name is claimed that requests of other guilds want at the same time.
	claimAttempts = 3
	// replayedWord is what a script answers before a recorded outcome (scripts/shared/once.lua).
	replayedWord = "REPLAYED"
)

// errClaimLost says that another guild has claimed the name of a request, and that nothing was changed.
var errClaimLost = errors.New("another guild claimed the key in between")

// runOnce is run for a script that begins with loaded and once, on a guild's members; args begin with the incarnation. When
// the request that once names was made before, nothing is changed, recorded is true, and the reply holds the words of the
// outcome that the script recorded then. Without a name it costs no more than run.
func (s *Store) runOnce(ctx context.Context, sc *script, g leaderboard.GuildRef, once leaderboard.Once, args ...any) (r reply, recorded bool, err error) {
	keys := keysOf(g.ID).changes(g.Incarnation)
	if !once.Named() {
		r, err = s.run(ctx, sc, keys, args...)
		return r, false, err
	}
	keys = append(keys, keysOf(g.ID).once(once.Key))
	for range claimAttempts {
		var number int64
		if once.Part == 0 { // the other steps of a request come after the first, whose record no other guild gets past
			number, err = s.claim(ctx, g.ID, once.Key)
		}
		if err == nil {
			named := append(args, number, digestText(once.Request), leaderboard.OnceTTL.Milliseconds())
			r, err = s.run(ctx, sc, keys, named...)
		}
		if !errors.Is(err, errClaimLost) {
			break
		}
	}
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

// claim gets a name for a guild and returns the number to make its request with. ErrKeyReused when a request of another
// guild was made under it; errClaimLost when another guild got it meanwhile.
//
// Records are in their guilds' slots, which have no step in common. So a claim in a slot of its own says which guild may make
// the request. Another guild takes it only after it put a fence, with the number that it is going to have, where the record
// would be: if the record is there it is too late, and if not, the holder's change can no longer be made. A holder that is
// not done claims again, and fences the other one in turn.
func (s *Store) claim(ctx context.Context, g id.Guild, key leaderboard.Digest) (number int64, err error) {
	ask := func(rival id.Guild, seen int64) (reply, error) {
		return s.run(ctx, claimScript, []string{claimKey(key)}, string(g), claimTTL.Milliseconds(), string(rival), seen)
	}
	r, err := ask("", 0)
	if err != nil {
		return 0, err
	}
	number, rival, err := claimOf(r)
	if err != nil || rival == "" {
		return number, err
	}
	_, err = s.run(ctx, fenceScript, []string{keysOf(rival).once(key)}, number+1, fenceTTL.Milliseconds())
	if err != nil {
		return 0, err
	}
	if r, err = ask(rival, number); err != nil {
		return 0, err
	}
	number, rival, err = claimOf(r)
	if err == nil && rival != "" {
		err = errClaimLost
	}
	return number, err
}

// claimOf reads the answer of claim.lua; without a rival the claim is ours.
func claimOf(r reply) (number int64, rival id.Guild, err error) {
	number, err = r.number(0)
	if err == nil {
		var text string
		text, _, err = r.text(1)
		rival = id.Guild(text)
	}
	if err != nil {
		return 0, "", fmt.Errorf("redis: claim: %w", err)
	}
	return number, rival, nil
}
