package redisstore

import (
	"math"

	"github.com/go-json-experiment/json"
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
// magnitudes. If that could confuse two levels, it returns anyGain.
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
	values := make([]float64, 2+level.MaxCoefficients)
	values[0], values[1] = float64(top), slack
	copy(values[2:], coefficients)
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // finite numbers can always be encoded
	}
	return string(text)
}
