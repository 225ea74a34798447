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

// The embedded fonts are parsed when the first card is drawn: a service that draws none pays nothing for them.
var (
	regular = sync.OnceValue(func() *typeface { return embedded(goregular.TTF) })
	bold    = sync.OnceValue(func() *typeface { return embedded(gobold.TTF) })
)

func embedded(file []byte) *typeface {
	face, err := font.ParseTTF(bytes.NewReader(file))
	if err != nil {
		panic(err) // only for a font that is broken, and it is part of the program
	}
	return &typeface{font: face.Font, runes: face.Cmap}
}

// typeface is a font that text can be drawn with.
type typeface struct {
	font  *font.Font // nil for one of a folder, which is read when it is needed
	path  string     // of one of a folder
	style font.Description
	runes font.Cmap
}

func (t *typeface) has(r rune) bool {
	index, ok := t.runes.Lookup(r)
	return ok && index != 0
}

// Fonts are what names are drawn with: the Go fonts, and behind them those of a folder. A nil Fonts has the Go fonts only. Fonts are safe
// for concurrent use.
type Fonts struct {
	regular, bold []*typeface // of the folder, in the order in which they are looked at
	files         *cached.Cache[string, *font.Font]
	id            string
	log           *slog.Logger
}

// ID names the folder's fonts: another one draws other pictures. It is empty without a folder.
func (f *Fonts) ID() string {
	if f == nil {
		return ""
	}
	return f.id
}

// order returns the fonts for regular or bold text, those to look at first in front.
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
