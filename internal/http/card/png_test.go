package card

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

func decoded(t *testing.T, d Data, theme Theme) image.Image {
	t.Helper()
	drawn, err := (*Fonts)(nil).PNG(d, theme)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(drawn))
	if err != nil {
		t.Fatal(err)
	}
	if img.Bounds() != image.Rect(0, 0, cardWidth*pngScale, cardHeight*pngScale) {
		t.Fatalf("the PNG's size is %v, want the card's times %d", img.Bounds(), pngScale)
	}
	if len(drawn) > 100<<10 {
		t.Errorf("the PNG has %d bytes, want at most 100 KiB", len(drawn))
	}
	return img
}

// near allows for rounding, which differs between processors.
func near(a color.Color, want colour) bool {
	r, g, b, alpha := a.RGBA()
	w := want.rgba()
	off := func(v uint32, w uint8) bool { return max(int(v>>8), int(w))-min(int(v>>8), int(w)) > 3 }
	return alpha == 0xffff && !off(r, w.R) && !off(g, w.G) && !off(b, w.B)
}

// dot returns the pixel at a place of the card.
func dot(img image.Image, x, y float64) color.Color { return img.At(int(x*pngScale), int(y*pngScale)) }

func TestPNGOfBothThemes(t *testing.T) {
	for theme, palette := range palettes {
		img := decoded(t, ada, theme)
		if _, _, _, alpha := img.At(0, 0).RGBA(); alpha != 0 {
			t.Errorf("theme %d: the corner's alpha is %d, want 0", theme, alpha)
		}
		h := hueOf(ada.UserID)
		for place, want := range map[[2]float64]colour{
			{360, 20}: palette[surface], {180, 108}: palette[surface], {360, .75}: palette[edge], {.75, 108}: palette[edge],
			{right - 10, barTop + 8}: palette[track], {right + 2, barTop + 8}: palette[surface],
			{left + 1.5, barTop + 8}: h.from, {left + .6316*(right-left) - 1.5, barTop + 8}: h.to,
			{43, 108}: h.from, {165, 108}: h.to,
		} {
			if got := dot(img, place[0], place[1]); !near(got, want) {
				t.Errorf("theme %d: the pixel at %v is %v, want %s", theme, place, got, want.css())
			}
		}
		if inked(img, image.Rect(left, 70, 460, 105), palette[ink]) < 500 {
			t.Errorf("theme %d: the name is not drawn", theme)
		}
	}
}

// inked counts the pixels of a colour in a part of the card.
func inked(img image.Image, part image.Rectangle, c colour) (n int) {
	for y := part.Min.Y * pngScale; y < part.Max.Y*pngScale; y++ {
		for x := part.Min.X * pngScale; x < part.Max.X*pngScale; x++ {
			if near(img.At(x, y), c) {
				n++
			}
		}
	}
	return n
}

func TestAutoIsLightInPNG(t *testing.T) {
	auto, err := (*Fonts)(nil).PNG(ada, Auto)
	if err != nil {
		t.Fatal(err)
	}
	if light, _ := (*Fonts)(nil).PNG(ada, Light); !bytes.Equal(auto, light) {
		t.Error("a PNG without a theme is not the light one")
	}
}

func TestMissingCharacterIsAFrame(t *testing.T) {
	img := decoded(t, with(func(d *Data) { d.GlobalName = "国.国" }), Light)
	for _, x := range []float64{left + 17, left + 17 + 34 + 8} {
		if got := dot(img, x, 98-12); !near(got, palettes[Light][surface]) {
			t.Errorf("the middle of the frame is %v, want the surface's colour", got)
		}
	}
	if inked(img, image.Rect(left, 70, left+34, 105), palettes[Light][ink]) < 200 {
		t.Error("no frame is drawn for a missing character")
	}
}

func FuzzPNG(f *testing.F) {
	for _, name := range hostile {
		f.Add(name, name, 0.0, int64(0))
	}
	f.Add("x", "y", -1e300, int64(-1))
	f.Add("x", "y", 1e300, int64(1<<63-1))
	f.Fuzz(func(t *testing.T, name, guild string, progress float64, number int64) {
		decoded(t, Data{UserID: name, GlobalName: name, Guild: guild, Progress: progress, Rank: number, XP: number, Messages: number}, Dark)
	})
}
