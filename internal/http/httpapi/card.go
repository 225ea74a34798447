package httpapi

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/http/card"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/shares"
	"levelboard/internal/usecase/leaderboard"
)

// cardVersion is part of every card's ETag. Raise it when the same data would be drawn differently.
const cardVersion = 3

// cardFormat is the suffix of a card's file name.
type cardFormat string

const (
	cardSVG cardFormat = "svg"
	cardPNG cardFormat = "png"
)

var cardTypes = map[cardFormat]string{cardSVG: "image/svg+xml", cardPNG: "image/png"}

// picture is a requested card.
type picture struct {
	format cardFormat
	theme  card.Theme
	data   card.Data
}

// rankCard answers with a member's card, to any caller who may read the guild's leaderboard. Its ETag is a digest of the data
// to draw, read after the request arrived. So a card is never older than its request, and stays the same while others gain XP.
func (a *api) rankCard(format cardFormat) gin.HandlerFunc {
	return a.writes(func(r *request) error {
		user := r.member()
		theme := r.theme()
		g := r.readable()
		if r.err != nil {
			return r.err
		}
		member, err := a.deps.Board.Member(r.ctx, g, user)
		if err == nil {
			err = shown(callerOf(r.c), g, member)
		}
		if err != nil {
			return err
		}
		return a.serveCard(r.c, picture{format: format, theme: theme, data: cardData(g, member)})
	})
}

func (a *api) serveCard(c *gin.Context, p picture) error {
	tag, err := p.etag(a.deps.Fonts)
	if err != nil {
		return err
	}
	if _, ok := edge.MatchETag(c.Request.Header.Values("If-None-Match"), tag); ok {
		setCardHeaders(c, tag)
		c.Status(http.StatusNotModified)
		return nil
	}
	drawn := []byte(nil)
	if p.format == cardSVG {
		drawn = card.SVG(p.data, p.theme)
	} else if drawn, err = a.cards.Draw(c.Request.Context(), edge.Holder(c), tag, func() ([]byte, error) { return a.deps.Fonts.PNG(p.data, p.theme) }); err != nil {
		if errors.Is(err, shares.ErrFull) || errors.Is(err, shares.ErrShare) {
			return full(err)
		}
		return err
	}
	setCardHeaders(c, tag)
	return writeAs(c, http.StatusOK, cardTypes[p.format], drawn)
}

// etag identifies the data to draw, and the way of drawing.
func (p picture) etag(fonts *card.Fonts) (string, error) {
	drawn, err := encode(p.data)
	if err != nil {
		return "", fmt.Errorf("name a card: %w", err)
	}
	if p.format == cardPNG {
		drawn = append(drawn, fonts.ID()...)
	}
	return edge.ETag(fmt.Sprintf("%d-%s-%d-%x", cardVersion, p.format, p.theme, sha256.Sum256(drawn))), nil
}

func (r *request) theme() card.Theme {
	switch given := r.query.Get("theme"); {
	case !r.query.Has("theme"):
		return card.Auto
	case given == "light":
		return card.Light
	case given == "dark":
		return card.Dark
	}
	r.keep(fault.New(fault.Invalid, "The query parameter theme must be light or dark, or left out."))
	return card.Auto
}

func cardData(g *guild.Guild, m leaderboard.Ranked) card.Data {
	at, next, progress := g.Curve.Progress(m.XP)
	if level.Highest(at, next) {
		next, progress = m.XP, 100
	}
	d := card.Data{
		UserID: string(m.UserID), Username: m.User.Username, Guild: g.Name, Rank: m.Rank, Level: int(at), XP: int64(m.XP),
		Messages: m.MessageCount, NextLevelXP: int64(next), Progress: progress,
	}
	if m.User.GlobalName != nil {
		d.GlobalName = *m.User.GlobalName
	}
	return d
}

// setCardHeaders sets the headers of pages, since the same rules say who may read a card. An SVG
// that is opened by itself is a document of this origin, so it gets no rights except its own styles.
func setCardHeaders(c *gin.Context, etag string) {
	setCacheHeaders(c, etag, varyKey)
	c.Header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
}
