package card

import (
	"slices"
	"unicode"

	"github.com/go-text/typesetting/bidi"
	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	unicodebidi "golang.org/x/text/unicode/bidi"
	"golang.org/x/text/width"
)

// unit is the size at which text is shaped. It is scaled from that, so nothing is rounded to a grid.
const unit = 1024

// glyph is a placed glyph of a text. Lengths are in units of the text's size.
type glyph struct {
	face    *font.Face
	index   font.GID
	missing bool // no font has it, so a box is drawn
	at, up  float64
	width   float64
}

// typesetter shapes text with Fonts. It is not safe for concurrent use.
type typesetter struct {
	fonts     *Fonts
	faces     map[faceKey]*font.Face
	paragraph bidi.Paragraph
	segmenter shaping.Segmenter
	shaper    shaping.HarfbuzzShaper
}

type faceKey struct {
	typeface *typeface
	heavy    bool
}

func newTypesetter(f *Fonts) *typesetter {
	return &typesetter{fonts: f, faces: map[faceKey]*font.Face{}}
}

// has reports whether a character can be drawn bold, as names are.
func (t *typesetter) has(r rune) bool {
	return slices.ContainsFunc(t.fonts.order(true), func(face *typeface) bool { return face.has(r) })
}

// shape places the glyphs of clean text in its directions: left to right, right to left, or both in turn.
func (t *typesetter) shape(text string, heavy bool) (glyphs []glyph, length float64) {
	runes := []rune(text)
	faces := t.choose(runes, heavy)
	boxed, starts := -1, []bool(nil)
	for _, run := range visual(t.paragraph.Segment(runes, bidi.Neutral), runes) {
		direction := di.DirectionLTR
		if !run.IsLeftToRight() {
			direction = di.DirectionRTL
		}
		inputs := t.segmenter.Split(shaping.Input{
			Text: runes, RunStart: run.Start, RunEnd: run.End, Direction: direction, Size: fixed.I(unit), Language: "en",
		}, faces)
		if direction == di.DirectionRTL {
			slices.Reverse(inputs)
		}
		for _, input := range inputs {
			for _, shaped := range t.shaper.ShapeNoExtents(input).Glyphs {
				g := glyph{face: input.Face, index: shaped.GlyphID, at: length + units(shaped.XOffset), up: units(shaped.YOffset), width: units(shaped.Advance)}
				if at := shaped.TextIndex(); shaped.GlyphID == 0 {
					_, known := input.Face.NominalGlyph(runes[at])
					if starts == nil {
						starts = clusterStarts(runes)
					}
					if known || at == boxed || !starts[at] {
						continue // a mark, or a part of a character that is a box
					}
					boxed = at
					g.missing, g.at, g.width = true, length, guess(runes[at])
				}
				length += g.width
				glyphs = append(glyphs, g)
			}
		}
	}
	return glyphs, length
}

// visual returns the runs from left to right, by rule L2 of Unicode's bidirectional algorithm.
func visual(found bidi.Runs, text []rune) []bidi.Run {
	runs := make([]bidi.Run, found.NumRuns())
	for i := range runs {
		runs[i] = found.Run(i)
	}
	if leftToRight(text) {
		runs = apart(runs, text)
	}
	for level := bidi.Level(2); level > 0; level-- { // no level is higher: Clean removes the characters that nest directions
		for i := 0; i < len(runs); i++ {
			begin := i
			for i < len(runs) && runs[i].Level >= level {
				i++
			}
			slices.Reverse(runs[begin:i])
		}
	}
	return runs
}

// leftToRight reports the direction of a whole text: that of its first letter.
func leftToRight(text []rune) bool {
	for _, r := range text {
		switch class := classOf(r); class {
		case unicodebidi.L:
			return true
		case unicodebidi.R, unicodebidi.AL:
			return false
		}
	}
	return true
}

// apart splits a run of numbers in right-to-left text from the left-to-right text behind it.
// Both are read from left to right, so they are in one run, but they belong in different places.
func apart(runs []bidi.Run, text []rune) []bidi.Run {
	var parts []bidi.Run
	for _, run := range runs {
		end := run.Start
		for run.Level == 2 && end < run.End && isNumeric(text[end]) {
			end++
		}
		if end > run.Start {
			parts = append(parts, bidi.Run{Start: run.Start, End: end, Level: 2})
			run.Start, run.Level = end, 0
		}
		if run.Start < run.End {
			parts = append(parts, run)
		}
	}
	return parts
}

func classOf(r rune) unicodebidi.Class {
	properties, _ := unicodebidi.LookupRune(r)
	return properties.Class()
}

func isNumeric(r rune) bool {
	switch classOf(r) {
	case unicodebidi.EN, unicodebidi.AN, unicodebidi.ES, unicodebidi.ET, unicodebidi.CS:
		return true
	}
	return false
}

// guess returns how wide other fonts draw a character that ours lack.
func guess(r rune) float64 {
	if r >= 0x1f000 {
		return 1.25
	}
	// Measured with words in DejaVu Sans (see viewers). The presentation forms are excluded: a single one can be a sentence.
	if r < 0x800 && unicode.In(r, unicode.Hebrew, unicode.Arabic) {
		return .5
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 1
	}
	return .7
}

func units(v fixed.Int26_6) float64 { return float64(v) / (64 * unit) }
