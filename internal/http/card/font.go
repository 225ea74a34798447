package card

import (
	"bytes"
	"log/slog"
	"sync"

	"github.com/go-text/typesetting/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"

	"levelboard/internal/platform/cached"
)

// The embedded fonts are parsed when the first card is drawn, so that a service without cards pays nothing for them.
var (
	regular = sync.OnceValue(func() *typeface { return embedded(goregular.TTF) })
	bold    = sync.OnceValue(func() *typeface { return embedded(gobold.TTF) })
)

func embedded(file []byte) *typeface {
	face, err := font.ParseTTF(bytes.NewReader(file))
	if err != nil {
		panic(err) // the font is part of the program
	}
	return &typeface{font: face.Font, runes: face.Cmap}
}

// typeface is a font to draw text with.
type typeface struct {
	font  *font.Font // nil for a font of a folder, which is read when needed
	path  string     // of a font of a folder
	style font.Description
	runes font.Cmap
}

func (t *typeface) has(r rune) bool {
	index, ok := t.runes.Lookup(r)
	return ok && index != 0
}

// Fonts are the fonts for names: first the Go fonts, then those of a folder.
// A nil Fonts has only the Go fonts. Fonts are safe for concurrent use.
type Fonts struct {
	regular, bold []*typeface // of the folder, in the order in which they are tried
	files         *cached.Cache[string, *font.Font]
	id            string
	log           *slog.Logger
}

// ID identifies the folder's fonts: with another ID, the same data is drawn differently. It is empty without a folder.
func (f *Fonts) ID() string {
	if f == nil {
		return ""
	}
	return f.id
}

// order returns the fonts for regular or bold text, in the order in which to try them.
func (f *Fonts) order(heavy bool) []*typeface {
	var folder Fonts
	if f != nil {
		folder = *f
	}
	if heavy {
		return append([]*typeface{bold()}, folder.bold...)
	}
	return append([]*typeface{regular()}, folder.regular...)
}
