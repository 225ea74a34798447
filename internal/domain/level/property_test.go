package level_test

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"levelboard/internal/domain/level"
)

// exact computes a curve's threshold by its definition.
func exact(coefficients []float64, n level.Level) *big.Int {
	if n == 0 {
		return new(big.Int)
	}
	sum, power := new(big.Rat), big.NewRat(1, 1)
	for _, c := range coefficients {
		term, _ := new(big.Rat).SetString(strconv.FormatFloat(c, 'f', -1, 64))
		sum.Add(sum, term.Mul(term, power))
		power.Mul(power, big.NewRat(int64(n), 1))
	}
	half := big.NewRat(1, 2)
	if sum.Sign() < 0 {
		half.Neg(half)
	}
	sum.Add(sum, half)
	return new(big.Int).Quo(sum.Num(), sum.Denom())
}

// coefficients draws curves, most of which rise: whole numbers, decimals, halves, and floats of any digits.
func coefficients() *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		var c []float64
		kind := rapid.SampledFrom([]string{"whole", "cents", "halves", "floats", "tiny"}).Draw(t, "kind")
		for i := range rapid.IntRange(2, 5).Draw(t, "terms") {
			var x float64
			switch kind {
			case "whole":
				x = float64(rapid.IntRange(-20, 1000).Draw(t, "c"))
			case "cents":
				x = float64(rapid.IntRange(-100, 100000).Draw(t, "c")) / 100
			case "halves":
				x = float64(rapid.IntRange(0, 50).Draw(t, "c")) / 2
			case "floats":
				x = rapid.Float64Range(-1, 500).Draw(t, "c")
			case "tiny":
				x = rapid.Float64Range(0, math.Pow(100, float64(1-i))).Draw(t, "c")
			}
			c = append(c, x)
		}
		if rapid.Bool().Draw(t, "steeper") { // a curve of small numbers only, the most frequent ones, does not rise
			c[1]++
		}
		return c
	})
}

func TestLevelsAgreeWithAScanOfTheThresholds(t *testing.T) {
	accepted, drawn := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		coefficients := coefficients().Draw(t, "coefficients")
		drawn++
		c, err := level.NewCurve(coefficients)
		if err != nil {
			return
		}
		accepted++

		// The scan has the thresholds of all levels up to the first beyond the maximum XP.
		var thresholds []level.XP
		for n := level.Level(0); n <= level.Max && c.XPFor(n) <= level.MaxXP; n++ {
			thresholds = append(thresholds, c.XPFor(n))
			if n > 0 && thresholds[n] <= thresholds[n-1] {
				t.Fatalf("level %d begins at %d XP, not above level %d at %d", n, thresholds[n], n-1, thresholds[n-1])
			}
		}
		top := level.Level(len(thresholds) - 1)
		scan := func(xp level.XP) level.Level {
			n := top
			for thresholds[n] > xp {
				n--
			}
			return n
		}

		for range 20 {
			n := level.Level(rapid.IntRange(0, int(top)).Draw(t, "level"))
			start := c.XPFor(n)
			if want := exact(coefficients, n); want.Cmp(big.NewInt(int64(start))) != 0 {
				t.Fatalf("level %d begins at %d XP, want exactly %v", n, start, want)
			}
			if c.LevelAt(start) != n || (n > 0 && c.LevelAt(start-1) != n-1) {
				t.Fatalf("level %d begins at %d XP, but there the level is %d, and %d just before", n, start, c.LevelAt(start), c.LevelAt(start-1))
			}
			xp := level.XP(rapid.Int64Range(0, int64(level.MaxXP)).Draw(t, "xp"))
			lvl, next, progress := c.Progress(xp)
			if lvl != scan(xp) || c.LevelAt(xp) != lvl {
				t.Fatalf("%d XP is level %d, want %d as by the scan", xp, lvl, scan(xp))
			}
			if progress < 0 || progress > 100 || (lvl < level.Max && (next <= xp || next != c.XPFor(lvl+1))) {
				t.Fatalf("%d XP is level %d with the next at %d and a progress of %v", xp, lvl, next, progress)
			}
		}
	})
	if accepted*3 < drawn {
		t.Errorf("%d of %d curves were accepted, want a third: the property was hardly tested", accepted, drawn)
	}
}

// With any coefficients nothing panics, values are exact, and a curve is accepted if and only if it rises up to the limit.
func FuzzNewCurve(f *testing.F) {
	f.Add(150.0, -100.0, 50.0, 0.0, 0.0, uint8(3), uint16(10))
	f.Add(0.0, 75.83333333333333, 22.5, 1.6666666666666667, 0.0, uint8(4), uint16(100))
	f.Add(0.0, 0.5, 0.0, 0.0, 0.0, uint8(2), uint16(1))
	f.Add(1e308, -1e308, 5e-324, 1e-300, 1e300, uint8(5), uint16(9999))
	f.Add(0.49999999999999994, 1.0, 0.0, 0.0, 0.0, uint8(2), uint16(1))
	f.Add(3e9, -1e6, 0.0, 0.0, 0.0, uint8(2), uint16(853))
	f.Add(math.NaN(), 1.0, 0.0, 0.0, 0.0, uint8(2), uint16(1))
	f.Fuzz(func(t *testing.T, c0, c1, c2, c3, c4 float64, terms uint8, at uint16) {
		coefficients := []float64{c0, c1, c2, c3, c4}[:min(terms, 5)]
		c, err := level.NewCurve(coefficients)
		n := level.Level(at) % level.Max
		if err != nil {
			return
		}
		here, next := exact(coefficients, n), exact(coefficients, n+1)
		if next.Cmp(big.NewInt(int64(level.MaxXP))) <= 0 && next.Cmp(here) <= 0 {
			t.Fatalf("%v is accepted, but level %d begins at %v and level %d at %v", coefficients, n, here, n+1, next)
		}
		if want := here; want.IsInt64() && want.Int64() < 1<<53 && int64(c.XPFor(n)) != want.Int64() {
			t.Fatalf("%v: level %d begins at %d XP, want exactly %v", coefficients, n, c.XPFor(n), want)
		}
		again, err := level.NewCurve(c.Coefficients())
		if err != nil || !again.Equal(c) {
			t.Fatalf("%v: the curve's coefficients %v make another curve (%v)", coefficients, again.Coefficients(), err)
		}
		if start := c.XPFor(n); start <= level.MaxXP && c.LevelAt(start) != n {
			t.Fatalf("%v: level %d begins at %d XP, but there the level is %d", coefficients, n, start, c.LevelAt(start))
		}
	})
}
