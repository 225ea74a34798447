package redisstore

import (
	"math"
	"strconv"

	lru "github.com/hashicorp/golang-lru/v2"

	"levelboard/internal/domain/level"
	"levelboard/internal/platform/cached"
)

// sievesKept is how many curves' texts are cached; each needs about a hundred bytes.
const sievesKept = 1000

// anyGain is the sieve that lets every gain through.
const anyGain = "any"

// sieves caches the argument of read_curve (prelude/level.lua) for each curve.
type sieves struct {
	kept *lru.Cache[level.Curve, any]
}

func newSieves() sieves { return sieves{cached.NewLRU[level.Curve, any](sievesKept)} }

// of returns the curve's text as an argument of a script, empty without a curve.
func (s sieves) of(c *level.Curve) any {
	if c == nil {
		return ""
	}
	text, ok := s.kept.Get(*c)
	if !ok {
		text = sieveOf(*c)
		s.kept.Add(*c, text)
	}
	return text
}

// sieveOf returns the highest level that begins at level.MaxXP or below, the largest error of a value that Lua computes for a level up to it, and
// the coefficients. Horner's scheme over at most 5 rounded coefficients errs by less than 10 units of 2^-53 of the sum of the terms'
// magnitudes. If that could confuse two levels, it returns anyGain. Texts have no exponents, which the embedded Lua cannot read.
func sieveOf(c level.Curve) string {
	top := c.LevelAt(level.MaxXP)
	coefficients := c.Coefficients()
	var magnitude float64
	for i := len(coefficients) - 1; i >= 0; i-- {
		magnitude = magnitude*float64(top) + math.Abs(coefficients[i])
	}
	slack := magnitude * 0x1p-48
	if !(slack < 0.25) { // also when it is not a number
		return anyGain
	}
	text := strconv.AppendInt(nil, int64(top), 10)
	for i := -1; i < level.MaxCoefficients; i++ {
		value := slack
		if i >= len(coefficients) {
			value = 0
		} else if i >= 0 {
			value = coefficients[i]
		}
		text = strconv.AppendFloat(append(text, ' '), value, 'f', -1, 64)
	}
	return string(text)
}
