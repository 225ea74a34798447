package httpapi

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

type positionJSON struct {
	UserID       id.User          `json:"userId"`
	User         userWithColour   `json:"user"`
	Rank         int64            `json:"rank"`
	Of           int64            `json:"of"`
	TopPercent   float64          `json:"topPercent"`
	XP           level.XP         `json:"xp"`
	Level        level.Level      `json:"level"`
	NextLevelXP  level.XP         `json:"nextLevelXp"`
	Progress     float64          `json:"progress"`
	MessageCount int64            `json:"messageCount"`
	LastUpdated  *string          `json:"lastUpdated"`
	Ahead        *aheadJSON       `json:"ahead"`
	Periods      []periodRankJSON `json:"periods"`
}

type aheadJSON struct {
	UserID id.User  `json:"userId"`
	XP     level.XP `json:"xp"`
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

// aroundUsual is how many members are read around one when the query does not say.
const aroundUsual = 11

func (a *api) getPosition(c *gin.Context) error {
	g, user, err := a.permittedMember(c, func(url.Values) error { return nil })
	if err != nil {
		return err
	}
	position, err := a.deps.Periods.Position(c.Request.Context(), g, user)
	if err != nil {
		return err
	}
	setPrivate(c)
	writeJSON(c, http.StatusOK, positionBody(g, &position))
	return nil
}

func (a *api) getAround(c *gin.Context) error {
	limit, wanted := int64(aroundUsual), ""
	g, user, err := a.permittedMember(c, func(values url.Values) (err error) {
		if values.Has("limit") {
			limit, err = queryInt(values, "limit", 1, leaderboard.MaxAround)
		}
		if err == nil {
			wanted, err = queryPeriod(values)
		}
		return err
	})
	if err != nil {
		return err
	}
	found, settings, err := a.deps.Periods.Around(c.Request.Context(), g, user, wanted, limit)
	if err != nil {
		return err
	}
	setPrivate(c)
	writeJSON(c, http.StatusOK, aroundJSON{found.Of, standingEntries(settings.Curve, found.Rows)})
	return nil
}

// permittedMember reads the path of a member and, with read, the query, and finds the guild, in which the key may do this.
func (a *api) permittedMember(c *gin.Context, read func(url.Values) error) (g *guild.Guild, user id.User, err error) {
	gid, err := pathID[id.Guild](c, "guildId")
	if err == nil {
		user, err = pathID[id.User](c, "userId")
	}
	if err == nil {
		err = readQuery(c, read)
	}
	if err == nil {
		g, err = a.permitted(c, gid)
	}
	return g, user, err
}

func readQuery(c *gin.Context, read func(url.Values) error) error {
	values, err := query(c)
	if err != nil {
		return err
	}
	return read(values)
}

func positionBody(g *guild.Guild, p *leaderboard.Position) positionJSON {
	at, next, progress := g.Curve.Progress(p.XP)
	body := positionJSON{
		UserID: p.UserID, User: pageUser(p.User), Rank: p.Rank, Of: p.Of, TopPercent: float64(p.TopPercent()) / 100,
		XP: p.XP, Level: at, NextLevelXP: next, Progress: progress,
		MessageCount: p.MessageCount, LastUpdated: timestamp(p.LastUpdated), Periods: make([]periodRankJSON, len(p.Periods)),
	}
	if p.Ahead != nil {
		body.Ahead = &aheadJSON{p.Ahead.UserID, p.Ahead.XP}
	}
	for i, one := range p.Periods {
		body.Periods[i] = periodRankJSON{ID: one.ID, Kind: one.Kind, Gained: one.Gained}
		if one.Rank > 0 {
			body.Periods[i].Rank = &one.Rank
		}
	}
	return body
}
