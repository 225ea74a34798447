package redisstore

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

var positionScript = newScript("position", "loaded", "values", "ranked", "running")

// positionWidth is how many elements of a reply are about one member.
const positionWidth = 13

// Position implements leaderboard.Board.
func (s *Store) Position(ctx context.Context, g leaderboard.GuildRef, user id.User, running []period.Period) (leaderboard.Position, error) {
	k := keysOf(g.ID)
	keys, args := k.board(), []any{int64(g.Incarnation), "", "", "", "", string(user)}
	for _, p := range running {
		args[p.Kind.Place()] = p.Range()
	}
	if len(running) > 0 {
		keys = append(keys, k.gains()...)
	}
	c := redisconn.Call{Script: positionScript, Keys: keys, Args: args}
	if err := known(s.client.Share(ctx, &c)); err != nil {
		return leaderboard.Position{}, err
	}
	p, err := positionOf(c.Reply, running)
	p.UserID = user
	return p, wrap("position", err)
}

// positionOf reads the member that position.lua answered, except for its id.
func positionOf(r reply, running []period.Period) (p leaderboard.Position, err error) {
	if err := r.numbers(&p.Of); err != nil {
		return p, err
	}
	if len(r) < 1+positionWidth {
		return p, errReply
	}
	r = r[1:][:positionWidth]
	if p.Ranked, err = memberOf(r); err != nil {
		return p, err
	}
	if p.Ahead, err = aheadOf(r); err != nil {
		return p, err
	}
	p.Periods = make([]leaderboard.PeriodPosition, len(running))
	for i, one := range running {
		if p.Periods[i], err = periodPositionOf(r, one); err != nil {
			return p, err
		}
	}
	return p, nil
}

func aheadOf(r reply) (*leaderboard.Ahead, error) {
	user, ok, err := r.text(3)
	if err != nil || !ok {
		return nil, err
	}
	xp, err := r.number(4)
	return &leaderboard.Ahead{UserID: id.User(user), XP: level.XP(xp)}, err
}

func periodPositionOf(r reply, of period.Period) (p leaderboard.PeriodPosition, err error) {
	p.Period = of
	at := 3 + 2*of.Kind.Place()
	if r.at(at) == nil {
		return p, nil
	}
	if p.Gained, err = r.number(at); err != nil || p.Gained <= 0 {
		return p, err
	}
	above, err := r.number(at + 1)
	p.Rank = above + 1
	return p, err
}
