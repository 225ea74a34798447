package web

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/guilds"
)

// The plot's measures, in its own units.
const (
	plotLeft, plotRight = 64, 630
	plotTop, plotBottom = 32, 296
	plotLevels          = 50 // the last level in the plot
)

// plot is curves as lines and, for people who cannot see it, as numbers.
type plot struct {
	Curves []plotCurve
	Across []tick // levels
	Up     []tick // XP
	Levels []level.Level
}

type plotCurve struct {
	Class  string // plot__line--CLASS
	Label  string
	Points string
	XP     []level.XP // at plot.Levels
}

// tick is a mark on an axis at the position At.
type tick struct {
	At    float64
	Label string
}

// curve returns the form's curve if it is valid and differs from the saved one.
func (p *settingsPage) curve() *level.Curve {
	proposal, wrong, err := guilds.Propose(p.Guild.Settings, guilds.Given{"curve": p.known.Given(p.Form)["curve"]})
	if err != nil || wrong.Len() > 0 {
		return nil
	}
	curve := proposal.Settings().Curve
	if curve.Equal(p.Guild.Curve) {
		return nil
	}
	return &curve
}

// presets are the curves with names, and their labels.
var presets = []struct{ name, label string }{{level.PresetDefault, "Default"}, {level.PresetAmari, "Amari"}, {level.PresetMEE6, "MEE6"}}

// Plot draws the presets, the saved curve, and the form's curve if it is valid and differs.
func (p *settingsPage) Plot() plot {
	drawn := plot{Levels: []level.Level{1, 5, 10, 20, 30, 50, 100}}
	saved, entered := p.Guild.Curve, p.curve()
	byDefault, _ := level.Preset(level.PresetDefault)
	highest := max(saved.XPFor(plotLevels), byDefault.XPFor(plotLevels))
	if entered != nil {
		highest = max(highest, entered.XPFor(plotLevels))
	}
	step, top := scale(float64(min(highest, level.MaxXP)))
	add := func(class, label string, c level.Curve) {
		curve := plotCurve{Class: class, Label: label, Points: points(c, top)}
		for _, n := range drawn.Levels {
			curve.XP = append(curve.XP, c.XPFor(n))
		}
		drawn.Curves = append(drawn.Curves, curve)
	}
	for _, preset := range presets {
		c, _ := level.Preset(preset.name)
		add(preset.name, preset.label, c)
	}
	add("saved", "Saved", saved)
	if entered != nil {
		add("entered", "Your changes", *entered)
	}
	for n := 0; n <= plotLevels; n += 10 {
		drawn.Across = append(drawn.Across, tick{At: acrossAt(float64(n)), Label: strconv.Itoa(n)})
	}
	for xp := 0.0; xp <= top; xp += step {
		drawn.Up = append(drawn.Up, tick{At: upAt(xp, top), Label: shortXP(xp)})
	}
	return drawn
}

// points draws a curve up to the last level or the upper edge, whichever comes first.
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

// plotMarks is the maximum number of steps of an axis: enough that the top mark is near the highest value, and few enough that labels have room.
const plotMarks = 6

// scale returns the step between marks, which is 1, 2 or 5 with zeros after it, and the first mark at or above the highest value.
func scale(highest float64) (step, top float64) {
	highest = max(highest, 1)
	for unit := math.Pow(10, math.Floor(math.Log10(highest/plotMarks))); ; unit *= 10 {
		for _, step := range []float64{1, 2, 5} {
			if marks := math.Ceil(highest / (step * unit)); marks <= plotMarks {
				return step * unit, marks * step * unit
			}
		}
	}
}

// shortXP writes 40000 as 40k.
func shortXP(x float64) string {
	unit := ""
	for _, next := range []string{"k", "M", "G"} {
		if x >= 1e3 {
			x, unit = x/1e3, next
		}
	}
	return strconv.FormatFloat(x, 'f', -1, 64) + unit
}
