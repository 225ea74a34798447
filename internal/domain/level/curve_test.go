package level_test

import (
	"math"
	"reflect"
	"testing"

	"levelboard/internal/domain/level"
)

func preset(t testing.TB, name string) level.Curve {
	t.Helper()
	c, ok := level.Preset(name)
	if !ok {
		t.Fatalf("the preset %s is unknown", name)
	}
	return c
}

func curve(t testing.TB, coefficients ...float64) level.Curve {
	t.Helper()
	c, err := level.NewCurve(coefficients)
	if err != nil {
		t.Fatalf("the curve %v: %v", coefficients, err)
	}
	return c
}

func TestPresetsHaveTheirBotsLevels(t *testing.T) {
	for name, want := range map[string]map[level.Level]level.XP{
		"default": {-1: 0, 0: 0, 1: 100, 2: 150, 3: 300, 10: 4150, 100: 490150, 10000: 4999000150, 10001: 4999000150},
		"amari":   {0: 0, 1: 35, 2: 55, 3: 115, 10: 1655, 100: 196055, 10000: 1999600055},
		"mee6":    {0: 0, 1: 100, 2: 255, 3: 475, 4: 770, 5: 1150, 10: 4675, 100: 1899250, 10000: 1668917425000},
	} {
		c := preset(t, name)
		for n, xp := range want {
			if got := c.XPFor(n); got != xp {
				t.Errorf("%s: level %d begins at %d, want %d", name, n, got, xp)
			}
		}
		if got, ok := c.PresetName(); !ok || got != name {
			t.Errorf("the preset %s has the name %q (%v)", name, got, ok)
		}
	}
	if _, ok := level.Preset("Default"); ok {
		t.Error("Preset accepts Default in upper case")
	}
	if !reflect.DeepEqual(level.Curve{}, preset(t, "default")) {
		t.Error("the zero curve is not the default preset")
	}
}

// MEE6's bot adds 5n^2+50n+100 XP for each level. The preset's fractions sum up to that.
func TestTheMEE6PresetMatchesItsFormula(t *testing.T) {
	c, sum := preset(t, "mee6"), level.XP(0)
	for n := level.Level(1); n <= level.Max; n++ {
		k := level.XP(n - 1)
		if sum += 5*k*k + 50*k + 100; c.XPFor(n) != sum {
			t.Fatalf("level %d begins at %d XP, want %d", n, c.XPFor(n), sum)
		}
	}
}

func TestProgressHasLevelNextAndPercent(t *testing.T) {
	linear := curve(t, 0, 1)
	late := curve(t, 3e9, 1)
	for _, tc := range []struct {
		name     string
		curve    level.Curve
		xp       level.XP
		level    level.Level
		next     level.XP
		progress float64
	}{
		{"nothing yet", preset(t, "default"), 0, 0, 100, 0},
		{"just below", preset(t, "default"), 99, 0, 100, 99},
		{"just there", preset(t, "default"), 100, 1, 150, 0},
		{"half way", preset(t, "default"), 125, 1, 150, 50},
		{"the most", preset(t, "default"), level.MaxXP, 6554, 2147745900, 100 * float64(2147483647-2147090550) / float64(2147745900-2147090550)},
		{"amari's end", preset(t, "amari"), level.MaxXP, 10000, 1999600055, 100},
		{"amari's last step", preset(t, "amari"), 1999600054, 9999, 1999600055, 100 * float64(1999600054-1999200115) / float64(1999600055-1999200115)},
		{"the last level", linear, 10000, 10000, 10000, 100},
		{"beyond the last level", linear, 12345, 10000, 10000, 100},
		{"one XP a level", linear, 9999, 9999, 10000, 0},
		{"no level in reach", late, level.MaxXP, 0, 3000000001, 100 * 2147483647.0 / 3000000001},
		{"below nothing", preset(t, "default"), -5, 0, 100, 0},
	} {
		lvl, next, progress := tc.curve.Progress(tc.xp)
		if lvl != tc.level || next != tc.next || math.Abs(progress-tc.progress) > 1e-9 {
			t.Errorf("%s: %d XP is level %d, next %d, %v%%; want %d, %d, %v%%", tc.name, tc.xp, lvl, next, progress, tc.level, tc.next, tc.progress)
		}
	}
}

func TestThresholdsAreRoundedExactly(t *testing.T) {
	for _, tc := range []struct {
		coefficients []float64
		n            level.Level
		want         level.XP
	}{
		{[]float64{0.5, 1}, 1, 2},
		{[]float64{0.49999999999999994, 1}, 1, 1}, // the float sum would be 1.5
		{[]float64{0, 1.5}, 3, 5},
		{[]float64{0, 2.1}, 5, 11},                                     // 10.5 as decimals; floats that are no decimals would be above or below
		{[]float64{0, 1.1, 0.15}, 10, 26},                              // 11 + 15
		{[]float64{0.3, 1.2, 1}, 1, 3},                                 // 2.5
		{[]float64{0, 0, 0, 0, 1.00000000000005}, 1000, 1000000000000}, // 1000000000000.05
		{[]float64{0, 1.0000000000000002, 0.4999999999999998}, 1, 2},   // 1.5, which no sum of small integers decides
		{[]float64{1e-20, 1.5}, 1, 2},                                  // a digit that floats drop, above the half
		{[]float64{-1e-20, 1.5}, 1, 1},                                 // and below it
		{[]float64{1e15, 1}, 10000, 1000000000010000},
		{[]float64{1e300, 1}, 1, 1<<53 - 1},
	} {
		if got := curve(t, tc.coefficients...).XPFor(tc.n); got != tc.want {
			t.Errorf("%v: level %d begins at %d, want %d", tc.coefficients, tc.n, got, tc.want)
		}
	}
}

func TestInvalidCurvesAreExplained(t *testing.T) {
	for _, tc := range []struct {
		coefficients []float64
		want         string
	}{
		{nil, "the curve must have 2 to 5 coefficients, not 0"},
		{[]float64{1}, "the curve must have 2 to 5 coefficients, not 1"},
		{[]float64{1, 2, 3, 4, 5, 6}, "the curve must have 2 to 5 coefficients, not 6"},
		{[]float64{0, math.NaN()}, "the curve's coefficient 1 must be a finite number"},
		{[]float64{math.Inf(-1), 1}, "the curve's coefficient 0 must be a finite number"},
		{[]float64{0, 0}, "the curve must rise at every level: level 1 needs 0 XP, level 0 needs 0"},
		{[]float64{0, -1}, "the curve must rise at every level: level 1 needs -1 XP, level 0 needs 0"},
		{[]float64{0, 0.5}, "the curve must rise at every level: level 2 needs 1 XP, level 1 needs 1"},
		{[]float64{100, 0}, "the curve must rise at every level: level 2 needs 100 XP, level 1 needs 100"},
		{[]float64{0, 120, -10}, "the curve must rise at every level: level 7 needs 350 XP, level 6 needs 360"},
		{[]float64{0, 19998, -1}, "the curve must rise at every level: level 10000 needs 99980000 XP, level 9999 needs 99980001"},
		// It exceeds the maximum XP at level 1, then falls below it again.
		{[]float64{3e9, -1e6}, "the curve must rise at every level: level 853 needs 2147000000 XP, level 852 needs 2148000000"},
		{[]float64{1e308, -1e308}, "the curve must rise at every level: level 1 needs 0 XP, level 0 needs 0"},
		{[]float64{-1e308, -1e308, -1e308}, "the curve must rise at every level: level 1 needs -9007199254740991 XP, level 0 needs 0"},
	} {
		if _, err := level.NewCurve(tc.coefficients); err == nil || err.Error() != tc.want {
			t.Errorf("the curve %v gives\n%v, want\n%s", tc.coefficients, err, tc.want)
		}
	}
}

func TestAPresetDiffersFromItsCoefficients(t *testing.T) {
	same := curve(t, preset(t, "default").Coefficients()...)
	if name, ok := same.PresetName(); ok {
		t.Errorf("a curve of coefficients has the name %q, want none", name)
	}
	if same.Equal(preset(t, "default")) || preset(t, "amari").Equal(preset(t, "mee6")) {
		t.Error("different curves are equal")
	}
	if !same.Equal(curve(t, 150, -100, 50)) || !(level.Curve{}).Equal(preset(t, "default")) || same.Equal(curve(t, 150, -100, 50, 0)) {
		t.Error("curves of equal coefficients differ, or others are equal")
	}
	given := []float64{0, 5}
	c := curve(t, given...)
	given[1] = 7
	c.Coefficients()[1] = 9
	if got := c.Coefficients(); got[1] != 5 {
		t.Errorf("a caller changed the curve through its coefficients: %v", got)
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	for name, c := range curves(t) {
		if n := testing.AllocsPerRun(100, func() { c.Progress(123456) }); n != 0 {
			t.Errorf("Progress on %s makes %v allocations, want 0", name, n)
		}
	}
}

func curves(t testing.TB) map[string]level.Curve {
	return map[string]level.Curve{
		"default":  preset(t, "default"),
		"mee6":     preset(t, "mee6"),
		"decimals": curve(t, 0, 75.83333333333333, 22.5, 1.6666666666666667),
	}
}
