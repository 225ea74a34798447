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
	r := newReply(c.Reply)
	return positionOf(r, user, running), r.done("position")
}

// positionOf reads the answer of position.lua about a user.
func positionOf(r reply, user id.User, running []period.Period) leaderboard.Position {
	p := leaderboard.Position{Ranked: memberOf(r.of("member"), user), Of: r.of("of").number()}
	if p.Hidden {
		p.Of++
	}
	p.Flags, _ = hidden.Parse(strings.Fields(r.of("flags").text())...)
	if ahead := r.of("ahead"); ahead.size() > 0 {
		p.Ahead = &leaderboard.Ahead{UserID: id.User(ahead.at(0).text()), XP: level.XP(ahead.at(1).number())}
	}
	places := r.of("periods").sized(len(period.Kinds))
	p.Periods = make([]leaderboard.PeriodPosition, len(running))
	for i, one := range running {
		p.Periods[i].Period = one
		place := places.at(one.Kind.Place() - 1)
		gained, above := place.of("gained"), place.of("rank")
		if gained.there() {
			p.Periods[i].Gained = gained.number()
		}
		if p.Periods[i].Gained > 0 && above.there() {
			p.Periods[i].Rank = above.number() + 1
		}
	}
	return p
}
