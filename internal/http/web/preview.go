package web

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
	"levelboard/internal/http/card"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/shares"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/leaderboard"
)

// previewFormat is part of a preview's ETag. Raise it when the same board would be drawn differently.
const previewFormat = "p2"

// preview answers with a picture of the board of all time, for sites that preview links. It is drawn once for each version of the board.
func (s *Site) preview(c *gin.Context, g *guild.Guild) error {
	version, err := s.deps.Board.Version(c.Request.Context(), g)
	if err != nil {
		return err
	}
	tag := edge.ETag(previewFormat+s.deps.Fonts.ID(), int64(g.Incarnation), g.Version, version.Epoch, version.Rev)
	if g.Visibility == guild.Public {
		c.Header("Cache-Control", "public, no-cache")
		c.Header("Cross-Origin-Resource-Policy", "cross-origin")
	}
	if tagged(c, tag) {
		return nil
	}
	drawn, err := s.drawing.Draw(c.Request.Context(), ratelimit.ClientName(c.ClientIP()), tag, func() ([]byte, error) {
		v, err := s.deps.Board.View(c.Request.Context(), g, leaderboard.Look{Page: 1})
		if err != nil {
			return nil, err
		}
		return s.deps.Fonts.Preview(previewOf(g, &v))
	})
	if errors.Is(err, shares.ErrFull) || errors.Is(err, shares.ErrShare) {
		return crowded(err)
	}
	if err == nil {
		s.send(c, http.StatusOK, pngType, drawn)
	}
	return err
}

func previewOf(g *guild.Guild, v *leaderboard.View) card.Board {
	b := card.Board{GuildID: string(g.ID), Guild: g.Name, Members: int64(g.MemberCount), Ranked: v.Total}
	for _, m := range v.Rows[:min(len(v.Rows), 3)] {
		b.Top = append(b.Top, card.Data{
			UserID: string(m.UserID), Username: m.User.Username, GlobalName: text(m.User.GlobalName), Rank: m.Rank, XP: int64(m.XP),
			Level: int(g.Curve.LevelAt(m.XP)),
		})
	}
	return b
}
