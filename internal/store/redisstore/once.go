package redisstore

import (
	"context"
	"strconv"

	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
)

// asked are the arguments that every change has in common.
type asked struct {
	once  leaderboard.Once
	days  *period.Days
	curve *level.Curve
	audit *audit.Entry
}

// auditText returns the audit entry for the journal. It is empty if the archive knows the request: the first run recorded the entry, even if this
// run makes a lost part again.
func (a asked) auditText() string {
	if a.audit == nil || a.once.Past != nil && a.once.Past.Made {
		return ""
	}
	return packEntry(a.audit)
}

// change runs a script that changes members, with the arguments of prelude/request.lua before its own. It fails if too few replicas have the
// change.
func (s *Store) change(ctx context.Context, sc *redisconn.Script, g leaderboard.GuildRef, a asked, own ...any) (r reply, err error) {
	past, err := pastOf(a.once)
	if err != nil {
		return r, err
	}
	var name, request string
	if a.once.Named() {
		name, request = digestText(a.once.Key), digestText(a.once.Request)
	}
	args := append([]any{
		int64(g.Incarnation), g.Hidden, daysText(a.days), s.sieves.of(a.curve), a.auditText(), name, request, past, s.onceTTL.Milliseconds(),
	}, own...)
	c := &redisconn.Call{Script: sc, Keys: keysOf(g.ID).changes(g.Incarnation, name, a.days != nil), Args: args}
	send := s.client.Run
	if sc == changeScript { // small, and by far the most frequent
		send = s.client.Share
	}
	err = send(ctx, c)
	s.noteChanged(g.ID, err)
	return newReply(c.Reply), known(err)
}

// pastOf returns the argument that tells a script the archive's record of a request (prelude/request.lua). The script makes lost parts again.
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
