package card

import (
	"context"
	"slices"
	"unicode"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
)

// choice finds a font for each rune of one text. The segmenter calls it for one rune after another.
type choice struct {
	*typesetter
	text     []rune
	heavy    bool
	order    []*typeface // the fonts to try, in order
	byScript map[language.Script]*typeface
	last     *font.Face
}

func (t *typesetter) choose(text []rune, heavy bool) *choice {
	return &choice{typesetter: t, text: text, heavy: heavy, order: t.fonts.order(heavy), byScript: map[language.Script]*typeface{}}
}

// ResolveFace returns the font of the next rune. A mark gets the font of its letter, since another could not place it there.
func (c *choice) ResolveFace(r rune) *font.Face {
	if c.last == nil || !unicode.Is(unicode.M, r) && !isSkinTone(r) {
		c.last = c.face(c.typeface(r))
	}
	return c.last
}

func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// typeface prefers a font that has all the text's letters of a script, since letters of a second font would look different.
func (c *choice) typeface(r rune) *typeface {
	script := language.LookupScript(r)
	found, ok := c.byScript[script]
	if !ok && script.Strong() {
		found = c.first(func(letter rune) bool { return language.LookupScript(letter) == script })
		c.byScript[script] = found
	}
	if found == nil {
		found = c.first(func(other rune) bool { return other == r })
	}
	if found == nil {
		return c.order[0]
	}
	return found
}

// first returns the first font that has the runes of the text for which certain is true, or nil.
func (c *choice) first(certain func(rune) bool) *typeface {
	at := slices.IndexFunc(c.order, func(face *typeface) bool {
		return !slices.ContainsFunc(c.text, func(r rune) bool { return certain(r) && !face.has(r) })
	})
	if at < 0 {
		return nil
	}
	return c.order[at]
}

// face returns a face for this typesetter alone. If the font cannot be read, it returns that of the first font.
func (c *choice) face(of *typeface) *font.Face {
	key := faceKey{of, c.heavy}
	if face, ok := c.faces[key]; ok {
		return face
	}
	loaded := of.font
	if loaded == nil {
		var err error
		if loaded, err = c.fonts.files.Get(context.Background(), of.path); err != nil {
			c.fonts.log.Warn("a font cannot be read", "file", of.path, "error", err)
			return c.face(c.fonts.order(c.heavy)[0])
		}
	}
	face := font.NewFace(loaded)
	weight := font.WeightNormal
	if c.heavy {
		weight = font.WeightBold
	}
	face.SetVariations([]font.Variation{{Tag: opentype.MustNewTag("wght"), Value: float32(weight)}})
	c.faces[key] = face
	return face
}
