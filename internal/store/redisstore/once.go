package redisstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
)

var (
	claimScript = newScript("claim")
	fenceScript = newScript("fence", "now", "packed")
)

const (
	// claimTTL is longer than a record lasts that the claim's holder makes afterwards.
	claimTTL = leaderboard.MaxOnceTTL + time.Minute
	// fenceTTL is far longer than any change is under way, and shorter than a claim lasts: when claims begin at number 1 again,
	// there must be no fence left.
	fenceTTL = time.Hour
	// claimAttempts bounds how often a name is claimed that requests of other guilds want at the same time.
	claimAttempts = 3
	// replayedWord is what a script answers before a recorded outcome (prelude/changing.lua).
	replayedWord = "REPLAYED"
)

// errClaimLost says that another guild has claimed the name of a request, and that nothing was changed.
var errClaimLost = errors.New("another guild claimed the key in between")

// kept is what a change leaves behind, beside what it changes.
type kept struct {
	once  leaderboard.Once
	days  *period.Days
	audit *audit.Entry
}

// auditText is what the scripts put into the journal. If the archive knows the request, it was
// recorded when it was made, even if a part of it was lost and is made now.
func (k kept) auditText() string {
	if k.audit == nil || k.once.Past != nil && k.once.Past.Made {
		return ""
	}
	return packEntry(k.audit)
}

// runOnce runs a script that makes a change and begins with loaded and once; args come after the incarnation and the days. If the request that k.once names
// was made before, nothing is changed, and recorded has the recorded outcome. Its errors are those of redisconn, for outcome.
func (s *Store) runOnce(ctx context.Context, sc *redisconn.Script, g leaderboard.GuildRef, k kept, args ...any) (c *redisconn.Call, recorded reply, err error) {
	args = append([]any{int64(g.Incarnation), daysText(k.days)}, args...)
	c = &redisconn.Call{Script: sc, Keys: keysOf(g.ID).changes(g.Incarnation, k.days != nil), Args: args}
	once, entry := k.once, k.auditText()
	if once.Named() || entry != "" {
		c.Keys = append(c.Keys, keysOf(g.ID).once(), keysOf(g.ID).journal())
	}
	if !once.Named() {
		if entry != "" {
			c.Args = append(args, 0, "", "", "", entry)
		}
		err = s.client.Run(ctx, c)
		s.noteChanged(g.ID, err)
		return c, nil, err
	}
	past, err := pastOf(once)
	if err != nil {
		return c, nil, err
	}
	for range claimAttempts {
		var number int64
		if once.Part == 0 { // the other steps of a request come after the first, whose record no other guild gets past
			number, err = s.claim(ctx, g.ID, once.Key)
		}
		if err == nil {
			c.Args = append(slices.Clip(args), number, digestText(once.Request), digestText(once.Key), past, entry)
			err = s.client.Run(ctx, c)
			s.noteChanged(g.ID, err)
		}
		if !errors.Is(known(err), errClaimLost) {
			break
		}
	}
	if r := reply(c.Reply); r.at(0) == replayedWord {
		outcome, _, damaged := r.text(1)
		return c, words(outcome), cmp.Or(known(err), damaged)
	}
	return c, nil, err
}

// pastOf is the argument by which a script learns what the archive knows of a request (changing.lua). Where a part was lost, the script makes that part.
func pastOf(once leaderboard.Once) (string, error) {
	p := once.Past
	if p == nil {
		return "", nil
	}
	knows := p.Outcome
	switch {
	case !p.Made:
		knows = "-"
	case p.Request != once.Request:
		return "", leaderboard.ErrKeyReused
	case len(p.Lost) > 0:
		knows = "+"
	}
	return strconv.FormatInt(p.Epoch, 10) + " " + knows, nil
}

// words is a text split at its spaces.
func words(text string) reply {
	var r reply
	for word := range strings.SplitSeq(text, " ") {
		r = append(r, word)
	}
	return r
}

// claim gets a name for a guild and returns the number to make its request with. ErrKeyReused when a request of another guild was made
// under it; errClaimLost when another guild got it meanwhile.
//
// Records are in their guilds' slots, so a claim in a slot of its own says which guild may make the request. Another guild takes it only
// after it put a fence, with its next number, where the record would be: if the record is there it is too late, and if not, the holder's
// change can no longer be made. A holder that is not done claims again, and fences the other one in turn.
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
	_, err = s.run(ctx, fenceScript, []string{keysOf(rival).once()}, number+1, digestText(key), fenceTTL.Milliseconds())
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
	return number, rival, wrap("claim", err)
}
