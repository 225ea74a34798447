package redisstore

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
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
)

// errClaimLost says that another guild has claimed the name of a request, and that nothing was changed.
var errClaimLost = errors.New("another guild claimed the key in between")

// asked is what every change is asked with, beside what it changes.
type asked struct {
	once  leaderboard.Once
	days  *period.Days
	curve *level.Curve
	audit *audit.Entry
}

// auditText is what the scripts put into the journal. If the archive knows the request, it was
// recorded when it was made, even if a part of it was lost and is made now.
func (a asked) auditText() string {
	if a.audit == nil || a.once.Past != nil && a.once.Past.Made {
		return ""
	}
	return packEntry(a.audit)
}

// change runs a script that changes members, with the arguments of prelude/request.lua before its own. If too few replicas have the change,
// that is the error.
func (s *Store) change(ctx context.Context, sc *redisconn.Script, g leaderboard.GuildRef, a asked, own ...any) (r reply, err error) {
	past, err := pastOf(a.once)
	if err != nil {
		return nil, err
	}
	var name, request string
	if a.once.Named() {
		name, request = digestText(a.once.Key), digestText(a.once.Request)
	}
	const number = 4 // place of the claim's number
	args := append([]any{int64(g.Incarnation), daysText(a.days), s.sieves.of(a.curve), a.auditText(), 0, name, request, past}, own...)
	c := &redisconn.Call{Script: sc, Keys: keysOf(g.ID).changes(g.Incarnation, a.days != nil), Args: args}
	send := s.client.Run
	if sc == changeScript { // small, and by far the most frequent
		send = s.client.Share
	}
	for range claimAttempts {
		if a.once.Named() && a.once.Part == 0 { // the other steps of a request come after the first, whose record no other guild gets past
			c.Args[number], err = s.claim(ctx, g.ID, a.once.Key)
		}
		if err == nil {
			err = send(ctx, c)
			s.noteChanged(g.ID, err)
		}
		if err = known(err); !errors.Is(err, errClaimLost) {
			break
		}
		c = &redisconn.Call{Script: sc, Keys: c.Keys, Args: args}
	}
	return c.Reply, err
}

// replayedOf reads the outcome that was recorded when the request was made before.
func replayedOf(r reply) (outcome reply, replayed bool, err error) {
	if r.at(0) != "replayed" {
		return nil, false, nil
	}
	text, _, err := r.text(1)
	return words(text), true, err
}

// pastOf is the argument by which a script learns what the archive knows of a request (prelude/request.lua). Where a part was lost, the script makes that part.
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
