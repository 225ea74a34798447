package web

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"levelboard/internal/level"
)

// The plot's measures, in its own units.
const (
	plotLeft, plotRight = 56, 630
	plotTop, plotBottom = 12, 288
	plotLevels          = 50 // the last level that is drawn
)

// plot is curves as lines, and the same in numbers for those who do not see them.
type plot struct {
	Lines  []plotLine
	Across []tick // levels
	Up     []tick // XP
	Levels []level.Level
	Table  []plotRow
}

type plotLine struct {
	Class  string // plot__line--CLASS
	Label  string
	Points string
}

// tick is a mark on an axis, at At.
type tick struct {
	At    float64
	Label string
}

type plotRow struct {
	Label string
	XP    []level.XP // at plot.Levels
}

// plot draws the saved curve, and the one in the form when it is another and can be drawn.
func (p *settingsPage) plot() plot {
	if curve, changed := p.curve(); changed {
		return newPlot(p.Guild.Curve, &curve)
	}
	return newPlot(p.Guild.Curve, nil)
}

func newPlot(saved level.Curve, entered *level.Curve) plot {
	byDefault, _ := level.Preset(level.PresetDefault)
	highest := max(saved.XPFor(plotLevels), byDefault.XPFor(plotLevels))
	if entered != nil {
		highest = max(highest, entered.XPFor(plotLevels))
	}
	top := roundUp(float64(min(highest, level.MaxXP)))
	p := plot{Levels: []level.Level{1, 5, 10, 20, 30, 50, 100}}
	add := func(class, label string, c level.Curve) {
		row := plotRow{Label: label}
		for _, n := range p.Levels {
			row.XP = append(row.XP, c.XPFor(n))
		}
		p.Table = append(p.Table, row)
		p.Lines = append(p.Lines, plotLine{Class: class, Label: label, Points: points(c, top)})
	}
	for _, name := range []string{level.PresetDefault, level.PresetAmari, level.PresetMEE6} {
		c, _ := level.Preset(name)
		add(name, "preset "+name, c)
	}
	add("saved", "as it is now", saved)
	if entered != nil {
		add("entered", "as you entered it", *entered)
	}
	for n := 0; n <= plotLevels; n += 10 {
		p.Across = append(p.Across, tick{At: acrossAt(float64(n)), Label: strconv.Itoa(n)})
	}
	for i := 0; i <= 5; i++ {
		p.Up = append(p.Up, tick{At: upAt(top*float64(i)/5, top), Label: shortXP(top * float64(i) / 5)})
	}
	return p
}

// points draws a curve up to the last level or the upper edge, whichever it reaches first.
func points(c level.Curve, top float64) string {
	var b strings.Builder
	before := 0.0
	for n := range plotLevels + 1 {
		at, xp := float64(n), float64(c.XPFor(level.Level(n)))
		over := xp > top
		if over {
			at, xp = at-1+(top-before)/(xp-before), top
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", acrossAt(at), upAt(xp, top))
		if over {
			break
		}
		before = xp
	}
	return strings.TrimSpace(b.String())
}

func acrossAt(n float64) float64 { return plotLeft + (plotRight-plotLeft)*n/plotLevels }

func upAt(xp, top float64) float64 { return plotBottom - (plotBottom-plotTop)*xp/top }

// roundUp is the next 1, 2 or 5 with zeros after it, so that the marks are round.
func roundUp(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(max(x, 1))))
	for _, step := range []float64{1, 2, 5} {
		if x <= step*unit {
			return step * unit
		}
	}
	return 10 * unit
}

// shortXP writes 40000 as 40k.
func shortXP(x float64) string {
	for _, unit := range []struct {
		of   float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if x >= unit.of {
			return strconv.FormatFloat(x/unit.of, 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
