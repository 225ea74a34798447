package importer

import (
	"math"
	"sort"

	"levelboard/internal/domain/level"
)

// shownLevel returns the level that a source shows for XP.
type shownLevel func(xp int64) level.Level

// polarisLevels returns the levels as Polaris counts them: XP of a level is rounded to a multiple, halves up, and members stop below the
// first level whose XP they do not have.
func polarisLevels(s polarisSettings) shownLevel {
	top := int(level.Max)
	if s.MaxLevel > 0 {
		top = min(top, int(s.MaxLevel))
	}
	begins := make([]float64, top) // begins[n-1] is the XP that all levels up to n need
	highest := 0.0
	for i := range begins {
		n := float64(i + 1)
		xp := s.Curve["1"]*n + s.Curve["2"]*n*n + s.Curve["3"]*n*n*n
		step := max(1, s.Rounding)
		highest = max(highest, step*math.Floor(xp/step+0.5))
		begins[i] = highest
	}
	return func(xp int64) level.Level {
		return level.Level(sort.Search(top, func(i int) bool { return begins[i] > float64(xp) }))
	}
}
