package guildsettings

import (
	"context"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// Preview is what another curve would do to the members at the top of a board. Nobody's XP changes.
type Preview struct {
	Members      []Moved // by rank; at most leaderboard.PageSize
	Higher, Less int     // how many of them would get a higher level, and how many a lower one
}

// Moved is a member with the level that they have and the one that they would have.
type Moved struct {
	leaderboard.Ranked
	Before, After level.Level
}

// Preview reads the first page of the board and changes nothing.
func (s *Settings) Preview(ctx context.Context, g *guild.Guild, curve level.Curve) (Preview, error) {
	page, err := s.board.Page(ctx, g, 1, leaderboard.Digest{})
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Members: make([]Moved, len(page.Rows))}
	for i, r := range page.Rows {
		m := Moved{Ranked: r, Before: g.Curve.LevelAt(r.XP), After: curve.LevelAt(r.XP)}
		p.Members[i] = m
		switch {
		case m.After > m.Before:
			p.Higher++
		case m.After < m.Before:
			p.Less++
		}
	}
	return p, nil
}
