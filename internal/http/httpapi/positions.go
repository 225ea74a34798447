package httpapi

import (
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

type positionJSON struct {
	UserID       id.User            `json:"userId"`
	User         leaderboard.User   `json:"user"`
	Rank         int64              `json:"rank"`
	Of           int64              `json:"of"`
	TopPercent   float64            `json:"topPercent"`
	XP           level.XP           `json:"xp"`
	Level        level.Level        `json:"level"`
	NextLevelXP  level.XP           `json:"nextLevelXp"`
	Progress     float64            `json:"progress"`
	MessageCount int64              `json:"messageCount"`
	LastUpdated  *string            `json:"lastUpdated"`
	Ahead        *leaderboard.Ahead `json:"ahead"`
	Periods      []periodRankJSON   `json:"periods"`
	Hidden       []string           `json:"hidden"`
}

type periodRankJSON struct {
	ID     string      `json:"id"`
	Kind   period.Kind `json:"kind"`
	Rank   *int64      `json:"rank"`
	Gained int64       `json:"gained"`
}

type aroundJSON struct {
	Of     int64   `json:"of"`
	Levels []entry `json:"levels"`
}

// aroundUsual is how many members around one are read by default.
const aroundUsual = 11

func (a *api) getPosition(r *request) (any, error) {
	user := r.guildMember()
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	position, err := a.deps.Periods.Position(r.ctx, g, user)
	if err != nil {
		return nil, err
	}
	return positionBody(g, &position), nil
}

func (a *api) getAround(r *request) (any, error) {
	user := r.guildMember()
	limit := r.optionalInt("limit", 1, leaderboard.MaxAround, aroundUsual)
	name := r.period()
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	found, settings, err := a.deps.Periods.Around(r.ctx, g, user, name, limit)
	if err != nil {
		return nil, err
	}
	return aroundJSON{found.Of, standingEntries(settings.Curve, found.Rows)}, nil
}

func positionBody(g *guild.Guild, p *leaderboard.Position) positionJSON {
	at, next, progress := g.Curve.Progress(p.XP)
	body := positionJSON{
		UserID: p.UserID, User: p.User, Rank: p.Rank, Of: p.Of, TopPercent: float64(p.TopPercent()) / 100,
		XP: p.XP, Level: at, NextLevelXP: next, Progress: progress,
		MessageCount: p.MessageCount, LastUpdated: timestamp(p.LastUpdated), Periods: make([]periodRankJSON, len(p.Periods)), Hidden: p.Flags.Words(), Ahead: p.Ahead,
	}
	for i, one := range p.Periods {
		body.Periods[i] = periodRankJSON{ID: one.ID, Kind: one.Kind, Gained: one.Gained}
		if one.Rank > 0 {
			body.Periods[i].Rank = &one.Rank
		}
	}
	return body
}
