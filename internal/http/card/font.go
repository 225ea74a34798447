package card

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/width"
)

// unit is the size at which glyphs are read; they are scaled from there, so nothing is rounded to a grid.
const unit = 1024

// The fonts are parsed when the first card is drawn: a service that draws none pays nothing for them.
var (
	regular = sync.OnceValue(func() *sfnt.Font { return parse(goregular.TTF) })
	bold    = sync.OnceValue(func() *sfnt.Font { return parse(gobold.TTF) })
)

func parse(embedded []byte) *sfnt.Font {
	f, err := sfnt.Parse(embedded)
	if err != nil {
		panic(err) // only for a font that is broken, and it is part of the program
	}
	return f
}

// typeface is a font at the hands of one goroutine.
type typeface struct {
	font   *sfnt.Font
	buffer sfnt.Buffer
}

func newTypeface(heavy bool) *typeface {
	if heavy {
		return &typeface{font: bold()}
	}
	return &typeface{font: regular()}
}

// glyph is a cluster of text, placed. Lengths are in units of the text's size.
type glyph struct {
	index sfnt.GlyphIndex // 0: the font does not have it, and a box is drawn in its place
	blank bool
	at    float64
	width float64
}

func (t *typeface) has(r rune) bool {
	index, err := t.font.GlyphIndex(&t.buffer, r)
	return err == nil && index != 0
}

// shape places text, which must be clean, from left to right. A cluster is one glyph, that of its base.
func (t *typeface) shape(text string) (glyphs []glyph, length float64) {
	var last sfnt.GlyphIndex
	for _, c := range clusters(text) {
		r, _ := utf8.DecodeRuneInString(c)
		g := glyph{blank: r == ' ', width: guess(r)}
		if index, err := t.font.GlyphIndex(&t.buffer, r); err == nil && index != 0 {
			g.index = index
			if advance, err := t.font.GlyphAdvance(&t.buffer, index, fixed.I(unit), font.HintingNone); err == nil {
				g.width = units(advance)
			}
			if last != 0 {
				if kern, err := t.font.Kern(&t.buffer, last, index, fixed.I(unit), font.HintingNone); err == nil {
					length += units(kern)
				}
			}
		}
		g.at, last = length, g.index
		length += g.width
		glyphs = append(glyphs, g)
	}
	return glyphs, length
}

// guess is how wide other fonts draw what these do not have.
func guess(r rune) float64 {
	if r >= 0x1f000 {
		return 1.25
	}
	// As measured of words in the font that viewers allows for. Not the presentation forms, of which one can be a sentence.
	if r < 0x800 && unicode.In(r, unicode.Hebrew, unicode.Arabic) {
		return .5
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 1
	}
	return .7
}

func units(v fixed.Int26_6) float64 { return float64(v) / (64 * unit) }
