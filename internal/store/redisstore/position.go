package redisstore

import (
	"context"
	"strings"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

var positionScript = newScript("position", "loaded", "ranked")

// Position implements leaderboard.Board.
func (s *Store) Position(ctx context.Context, g leaderboard.GuildRef, user id.User, running []period.Period) (leaderboard.Position, error) {
	k := keysOf(g.ID)
	keys, args := append(k.board(), k.off(), k.hidden()), []any{int64(g.Incarnation), g.Hidden, string(user), "", "", "", ""}
	for _, p := range running {
		args[2+p.Kind.Place()] = p.Range()
	}
	if len(running) > 0 {
		keys = append(keys, k.gains()...)
	}
	c := redisconn.Call{Script: positionScript, Keys: keys, Args: args}
	if err := known(s.client.Share(ctx, &c)); err != nil {
		return leaderboard.Position{}, err
	}
	p, err := positionOf(c.Reply, user, running)
	return p, wrap("position", err)
}

// positionOf reads the answer of position.lua about a user.
func positionOf(r reply, user id.User, running []period.Period) (p leaderboard.Position, err error) {
	if err := r.named(named{"of", &p.Of}); err != nil {
		return p, err
	}
	row, err := r.list(r.of("member"), -1)
	if err != nil {
		return p, err
	}
	if p.Ranked, err = memberOf(row, user); err != nil {
		return p, err
	}
	if p.Hidden {
		p.Of++
	}
	flags, _, err := r.text(r.of("flags"))
	if err != nil {
		return p, err
	}
	p.Flags, _ = hidden.Parse(strings.Fields(flags)...)
	if p.Ahead, err = aheadOf(r); err != nil {
		return p, err
	}
	places, err := r.list(r.of("periods"), len(period.Kinds))
	if err != nil {
		return p, err
	}
	p.Periods = make([]leaderboard.PeriodPosition, len(running))
	for i, one := range running {
		if p.Periods[i], err = periodPositionOf(places, one); err != nil {
			return p, err
		}
	}
	return p, nil
}

func aheadOf(r reply) (*leaderboard.Ahead, error) {
	ahead, err := r.list(r.of("ahead"), -1)
	if err != nil || len(ahead) == 0 {
		return nil, err
	}
	user, _, err := ahead.text(0)
	if err != nil {
		return nil, err
	}
	xp, err := ahead.number(1)
	return &leaderboard.Ahead{UserID: id.User(user), XP: level.XP(xp)}, err
}

func periodPositionOf(places reply, of period.Period) (p leaderboard.PeriodPosition, err error) {
	p.Period = of
	r, err := places.list(of.Kind.Place()-1, -1)
	if err != nil || r.at(r.of("gained")) == nil {
		return p, err
	}
	if err = r.named(named{"gained", &p.Gained}); err != nil || p.Gained <= 0 || r.at(r.of("rank")) == nil {
		return p, err
	}
	err = r.named(named{"rank", &p.Rank})
	p.Rank++
	return p, err
}
