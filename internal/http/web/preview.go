package web

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
	"levelboard/internal/http/card"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/shares"
	"levelboard/internal/store/ratelimit"
)

// previewFormat is part of a preview's ETag. Raise it when the same board would be drawn differently.
const previewFormat = "p3"

// preview answers with a picture of the board of all time or of a period, for sites that preview links. It is drawn once for what it shows.
func (s *Site) preview(c *gin.Context, g *guild.Guild) error {
	v, err := s.readBoard(c.Request.Context(), g, boardAsk{period: c.Query("period"), number: 1})
	if err != nil {
		return err
	}
	board := previewOf(g, &v)
	tag := edge.BodyETag(fmt.Appendf(nil, "%s %s %+v", previewFormat, s.deps.Fonts.ID(), board))
	if g.Visibility == guild.Public {
		c.Header("Cache-Control", "public, no-cache")
		c.Header("Cross-Origin-Resource-Policy", "cross-origin")
	}
	if tagged(c, tag) {
		return nil
	}
	drawn, err := s.drawing.Draw(c.Request.Context(), ratelimit.ClientName(c.ClientIP()), tag, func() ([]byte, error) {
		return s.deps.Fonts.Preview(board)
	})
	if errors.Is(err, shares.ErrFull) || errors.Is(err, shares.ErrShare) {
		return crowded(err)
	}
	if err == nil {
		s.send(c, http.StatusOK, pngType, drawn)
	}
	return err
}

func previewOf(g *guild.Guild, v *boardView) card.Board {
	b := card.Board{GuildID: string(g.ID), Guild: g.Name, Members: int64(g.MemberCount), Ranked: v.Total}
	if v.period != nil {
		b.Period = periodName(*v.period)
	}
	for _, m := range v.Rows[:min(len(v.Rows), 3)] {
		b.Top = append(b.Top, card.Data{
			UserID: string(m.UserID), Username: m.User.Username, GlobalName: text(m.User.GlobalName), Rank: m.Rank, XP: int64(m.XP),
			Level: int(v.settings.Curve.LevelAt(m.XP)),
		})
		if v.period != nil {
			b.Top[len(b.Top)-1].XP = m.Gained
		}
	}
	return b
}
