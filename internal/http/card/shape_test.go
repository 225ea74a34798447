package card

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
)

// scripts are names that the Go fonts cannot draw.
var scripts = map[string]string{
	"Arabic": "مريم الزهراء", "Hebrew": "אברהם", "Devanagari": "क्षत्रिय", "Thai": "กิ่งแก้ว", "Han": "漢字", "kana": "さくら",
}

func missing(f *Fonts, text string) (n int) {
	glyphs, _ := newTypesetter(f).shape(text, true)
	for _, g := range glyphs {
		if g.missing {
			n++
		}
	}
	return n
}

func TestEveryScriptIsDrawnWithAFolder(t *testing.T) {
	f := systemFonts(t)
	for script, name := range scripts {
		d := with(func(d *Data) { d.GlobalName = name })
		if n := missing(f, name); n > 0 {
			t.Errorf("%s: %d glyphs are missing, want 0", script, n)
		}
		if got := displayName(d, drawn(f).has); got != name {
			t.Errorf("%s: the name is %q, want %q", script, got, name)
		}
		if got := displayName(d, drawn(nil).has); got != d.Username || missing(nil, name) == 0 {
			t.Errorf("%s: without a folder of fonts the name is %q, want the username", script, got)
		}
	}
}

func TestLettersAreShaped(t *testing.T) {
	set := newTypesetter(systemFonts(t))
	for script, text := range map[string]string{"Arabic": "محمد", "Devanagari": "क्षि"} {
		glyphs, _ := set.shape(text, true)
		var apart, shaped []uint32
		for _, r := range text {
			index, _ := glyphs[0].face.NominalGlyph(r)
			apart = append(apart, uint32(index))
		}
		for _, g := range glyphs {
			shaped = append(shaped, uint32(g.index))
		}
		if slices.Equal(apart, shaped) {
			t.Errorf("%s has the same glyphs as its letters drawn one by one", script)
		}
		slices.Reverse(apart)
		if slices.Equal(apart, shaped) {
			t.Errorf("%s has the same glyphs as its letters drawn one by one, backwards", script)
		}
	}
}

func TestTextIsDrawnInReadingOrder(t *testing.T) {
	set := newTypesetter(systemFonts(t))
	for text, want := range map[string]string{
		"Bob": "Bob", "אבג": "גבא", "אבג 12": "12 גבא", "Bob אבג": "Bob גבא", "אבג Bob 7": "Bob 7 גבא",
		"Bob (אבג 34)": "Bob (34 גבא)", "Bob אב, גד 1.5 x": "Bob 1.5 דג ,בא x",
	} {
		glyphs, length := set.shape(text, false)
		var got strings.Builder
		for _, g := range glyphs {
			for _, r := range text {
				if index, ok := g.face.NominalGlyph(r); ok && index == g.index {
					got.WriteRune(r)
					break
				}
			}
			if g.at < -.1 || g.at > length {
				t.Errorf("%q: a glyph is at %v, outside the length %v", text, g.at, length)
			}
		}
		if got.String() != want {
			t.Errorf("%q is drawn as %q, want %q", text, got.String(), want)
		}
	}
}

func TestAClusterHasOneBox(t *testing.T) {
	for text, want := range map[string]int{"👩‍🚀": 1, "👍🏽👍": 2, "🇩🇪🇫🇷": 2, "a\u0335b": 0, "国.国": 2, "ק\u05b8": 1} {
		if got := missing(nil, text); got != want {
			t.Errorf("%q has %d boxes for missing characters, want %d", text, got, want)
		}
	}
}

// A font that lacks a letter of a word leaves the whole word, and only that word, to another font.
func TestAWordHasOneFont(t *testing.T) {
	glyphs, _ := newTypesetter(systemFonts(t)).shape("Nguyễn 12", true)
	name, digits := glyphs[0].face, glyphs[len(glyphs)-1].face
	for _, g := range glyphs[:6] {
		if g.face != name {
			t.Error("the name is drawn in two fonts, want one")
		}
	}
	if name.Font == bold().font || digits.Font != bold().font {
		t.Error("the name is in the Go font or the number is not")
	}
}

func TestFontsCanBeUsedConcurrently(t *testing.T) {
	f := systemFonts(t)
	d := with(func(d *Data) { d.GlobalName, d.Guild = scripts["Arabic"], scripts["Han"] })
	want, err := f.PNG(d, Dark)
	if err != nil {
		t.Fatal(err)
	}
	var drawing sync.WaitGroup
	for range 4 {
		drawing.Go(func() {
			if got, err := f.PNG(d, Dark); err != nil || !bytes.Equal(got, want) {
				t.Errorf("a card drawn concurrently differs (%v)", err)
			}
		})
	}
	drawing.Wait()
}

func FuzzNamesWithAFolder(f *testing.F) {
	fonts := systemFonts(f)
	for _, name := range hostile {
		f.Add(name)
	}
	for _, name := range scripts {
		f.Add(name + " " + name + strings.Repeat(name, 20))
	}
	f.Fuzz(func(t *testing.T, name string) {
		d := with(func(d *Data) { d.GlobalName, d.Guild = name, name })
		wantPlaced(t, name, compose(d, drawn(fonts)).lines)
		if _, err := fonts.PNG(d, Dark); err != nil {
			t.Error(err)
		}
	})
}
