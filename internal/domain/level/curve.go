// Package level converts between XP and levels. It stores nothing.
package level

import (
	"fmt"
	"math"
	"slices"
)

// The bounds of the number of coefficients.
const (
	MinCoefficients = 2
	MaxCoefficients = 5
)

// Curve maps levels to the XP at which they begin: round(c0 + c1*n + c2*n^2 + ...) for a level n of 1 or more, and 0 for
// level 0. It rises strictly at every level up to MaxXP. Its zero value is the preset "default". A Curve is immutable,
// small (no table), and safe for concurrent use; its answers are exact, whatever the coefficients.
type Curve struct {
	p *polynomial // nil for the default
}

// NewCurve returns the curve of 2 to 5 finite coefficients, c0 first. Each stands for the shortest decimal that
// reads back as the same float64, so 0.1 means a tenth. The error is a sentence for the person who chose them.
func NewCurve(coefficients []float64) (Curve, error) {
	if len(coefficients) < MinCoefficients || len(coefficients) > MaxCoefficients {
		return Curve{}, fmt.Errorf("the curve must have %d to %d coefficients, not %d", MinCoefficients, MaxCoefficients, len(coefficients))
	}
	ratios := make([]ratio, len(coefficients))
	for i, c := range coefficients {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return Curve{}, fmt.Errorf("the curve's coefficient %d must be a finite number", i)
		}
		ratios[i] = decimal(c)
	}
	p := newPolynomial(ratios)
	if err := p.rise(); err != nil {
		return Curve{}, err
	}
	return Curve{p}, nil
}

// Coefficients returns a copy of the coefficients, c0 first. NewCurve makes an
// equal curve of them, unless a preset has fractions that no float64 holds.
func (c Curve) Coefficients() []float64 {
	p := c.polynomial()
	return slices.Clone(p.floats[:p.terms])
}

// Equal reports whether both have the same coefficients and were made in the same way: by a preset's name or by coefficients.
func (c Curve) Equal(other Curve) bool {
	p, q := c.polynomial(), other.polynomial()
	return p == q || (p.preset == q.preset && p.terms == q.terms && p.floats == q.floats)
}

// XPFor returns the XP at which level n begins; a half is rounded away from zero. A level below 0 counts as 0, one
// above Max as Max. The result is more than MaxXP for levels that nobody can reach, and at most maxThreshold, 1<<53-1.
func (c Curve) XPFor(n Level) XP {
	return c.polynomial().at(min(n, Max))
}

// LevelAt returns the highest level, at most Max, that begins at or below xp. It rarely allocates.
func (c Curve) LevelAt(xp XP) Level {
	p := c.polynomial()
	low, high := Level(0), p.top
	for low < high {
		middle := low + (high-low+1)/2
		if p.at(middle) <= xp {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// Progress returns the level at xp, the XP at which the next level begins, and the progress to it in
// percent, 0 to 100. Level Max has no next one: for it, nextLevelXP is the XP of Max and progress is 100.
func (c Curve) Progress(xp XP) (lvl Level, nextLevelXP XP, progress float64) {
	lvl = c.LevelAt(xp)
	start := c.XPFor(lvl)
	if lvl == Max {
		return lvl, start, 100
	}
	next := c.XPFor(lvl + 1)
	progress = 100 * float64(xp-start) / float64(next-start)
	return lvl, next, max(0, min(progress, 100))
}

// Highest reports whether lvl is the last level that anybody can reach. nextLevelXP is the result of Progress.
func Highest(lvl Level, nextLevelXP XP) bool { return lvl >= Max || nextLevelXP > MaxXP }

func (c Curve) polynomial() *polynomial {
	if c.p == nil {
		return defaultPolynomial
	}
	return c.p
}

// The names of the presets.
const (
	PresetDefault = "default"
	PresetAmari   = "amari"
	PresetMEE6    = "mee6"
)

var (
	defaultPolynomial = mustPreset(PresetDefault, whole(150), whole(-100), whole(50))
	presets           = map[string]Curve{
		PresetDefault: {},
		PresetAmari:   {mustPreset(PresetAmari, whole(55), whole(-40), whole(20))},
		PresetMEE6:    {mustPreset(PresetMEE6, whole(0), fraction(455, 6), fraction(45, 2), fraction(5, 3))},
	}
)

// Preset returns the curve with this name: default, amari or mee6.
func Preset(name string) (Curve, bool) {
	c, ok := presets[name]
	return c, ok
}

// PresetName returns the name of the preset that made the curve. ok is false for a curve made of coefficients, even if they equal a preset's.
func (c Curve) PresetName() (name string, ok bool) {
	name = c.polynomial().preset
	return name, name != ""
}

// mustPreset makes a preset of exact fractions. A mistake in this file panics at start.
func mustPreset(name string, coefficients ...ratio) *polynomial {
	p := newPolynomial(coefficients)
	p.preset = name
	if err := p.rise(); err != nil {
		panic("level: preset " + name + ": " + err.Error())
	}
	return p
}

// XP is experience, 0 to MaxXP.
type XP int64

// Level is a member's level, 0 to Max.
type Level int

// The bounds of the API document.
const (
	MaxXP XP    = 2147483647
	Max   Level = 10000
)

// maxThreshold is the maximum result of XPFor: the greatest whole number that every JSON reader keeps exactly.
const maxThreshold XP = 1<<53 - 1
