package card

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	"github.com/go-text/typesetting/font/opentype"
	"golang.org/x/image/vector"
)

// PNG draws the card. The Go fonts cover the Latin, Greek and Cyrillic scripts. A letter that no font has becomes a box; a name that has
// only such letters is skipped for the next name. PNG takes tens of milliseconds of one core and some 5 MB. The result is tens of KB.
func (f *Fonts) PNG(d Data, theme Theme) ([]byte, error) {
	if theme == Auto {
		theme = Light
	}
	m := drawn(f)
	return paintScene(compose(d, m), m.ours, canvas{cardWidth, cardHeight, theme})
}

// canvas is the picture of a scene, with pngScale pixels to a unit.
type canvas struct {
	width, height int
	theme         Theme
}

func paintScene(s scene, text *typesetter, on canvas) ([]byte, error) {
	p := &painter{image: image.NewRGBA(image.Rect(0, 0, on.width*pngScale, on.height*pngScale)), palette: palettes[on.theme]}
	for _, b := range s.boxes {
		p.hue = s.hue
		if b.hue != (gradient{}) {
			p.hue = b.hue
		}
		p.box(b)
	}
	p.hue = s.hue
	for _, l := range s.lines {
		p.line(text, l)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&out, p.image); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return out.Bytes(), nil
}

// painter draws paths on an image, in the card's coordinates.
type painter struct {
	image   *image.RGBA
	palette [hue]colour
	hue     gradient
	raster  vector.Rasterizer
	origin  image.Point // of the raster, on the image
}

// box draws the rows with round corners as a path, and the rows between, which lie on whole pixels, as a rectangle.
func (p *painter) box(b box) {
	top, bottom := b.y+b.radius, b.y+b.height-b.radius
	if bottom-top < 1 || b.paint == hue {
		p.part(b, b.y, b.y+b.height)
		return
	}
	if b.radius > 0 {
		p.part(b, b.y, top)
		defer p.part(b, bottom, b.y+b.height)
	}
	middle := image.Rect(int(b.x*pngScale), int(math.Floor(top*pngScale)), int((b.x+b.width)*pngScale), int(math.Ceil(bottom*pngScale)))
	draw.Draw(p.image, middle, image.NewUniform(p.palette[b.paint].rgba()), image.Point{}, draw.Src)
}

// part draws the part of the path between two heights; the raster drops the rest.
func (p *painter) part(b box, y0, y1 float64) {
	if p.begin(b.x, y0, b.x+b.width, y1) {
		p.round(b)
		p.fill(b.paint)
	}
}

// round adds the outline of b to the path. A cubic curve stands for a quarter of a circle; the difference is too small to see.
func (p *painter) round(b box) {
	const k = .5522847
	x0, y0 := p.place(b.x, b.y)
	x1, y1 := p.place(b.x+b.width, b.y+b.height)
	r, h := float32(b.radius*pngScale), float32(b.radius*(1-k)*pngScale)
	p.raster.MoveTo(x0+r, y0)
	p.raster.LineTo(x1-r, y0)
	p.raster.CubeTo(x1-h, y0, x1, y0+h, x1, y0+r)
	p.raster.LineTo(x1, y1-r)
	p.raster.CubeTo(x1, y1-h, x1-h, y1, x1-r, y1)
	p.raster.LineTo(x0+r, y1)
	p.raster.CubeTo(x0+h, y1, x0, y1-h, x0, y1-r)
	p.raster.LineTo(x0, y0+r)
	p.raster.CubeTo(x0, y0+h, x0+h, y0, x0+r, y0)
	p.raster.ClosePath()
}

func (p *painter) line(text *typesetter, l line) {
	glyphs, _ := text.shape(l.text, l.heavy)
	for _, g := range glyphs {
		if g.missing {
			p.missing(l.x+g.at*l.size, l.y, g.width*l.size, l)
			continue
		}
		p.glyph(g, l)
	}
}

// missing draws a frame in place of a character.
func (p *painter) missing(x, y, width float64, l line) {
	side, high, thick := .08*l.size, .72*l.size, max(1, .06*l.size)
	outer := box{x: x + side, y: y - high, width: width - 2*side, height: high, radius: .1 * l.size}
	if !p.begin(outer.x, outer.y, outer.x+outer.width, outer.y+outer.height) {
		return
	}
	p.round(outer)
	// The inner box runs in the opposite direction, which makes it a hole.
	in := box{x: outer.x + thick, y: outer.y + outer.height - thick, width: outer.width - 2*thick, height: -(outer.height - 2*thick)}
	p.round(in)
	p.fill(l.paint)
}

func (p *painter) glyph(g glyph, l line) {
	outline, ok := g.face.GlyphDataOutline(g.index)
	if !ok || len(outline.Segments) == 0 {
		return // a space
	}
	scale := l.size / float64(g.face.Upem())
	at := func(v opentype.SegmentPoint) (float64, float64) {
		return l.x + g.at*l.size + float64(v.X)*scale, l.y - g.up*l.size - float64(v.Y)*scale
	}
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, s := range outline.Segments {
		for _, point := range s.ArgsSlice() {
			x, y := at(point)
			x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
		}
	}
	if !p.begin(x0, y0, x1, y1) {
		return
	}
	p.outline(outline.Segments, func(v opentype.SegmentPoint) (float32, float32) { return p.place(at(v)) })
	p.fill(l.paint)
}

// outline adds the contours of a glyph to the path.
func (p *painter) outline(segments []opentype.Segment, at func(opentype.SegmentPoint) (float32, float32)) {
	for _, s := range segments {
		ax, ay := at(s.Args[0])
		bx, by := at(s.Args[1])
		cx, cy := at(s.Args[2])
		switch s.Op {
		case opentype.SegmentOpMoveTo:
			p.raster.ClosePath()
			p.raster.MoveTo(ax, ay)
		case opentype.SegmentOpLineTo:
			p.raster.LineTo(ax, ay)
		case opentype.SegmentOpQuadTo:
			p.raster.QuadTo(ax, ay, bx, by)
		case opentype.SegmentOpCubeTo:
			p.raster.CubeTo(ax, ay, bx, by, cx, cy)
		}
	}
	p.raster.ClosePath()
}

// begin starts a path within these bounds. A raster no larger than the path is what makes
// this fast. If begin returns false, no part of the path is on the image: draw nothing.
func (p *painter) begin(x0, y0, x1, y1 float64) bool {
	floor, ceil := func(v float64) int { return int(math.Floor(v * pngScale)) }, func(v float64) int { return int(math.Ceil(v*pngScale)) + 1 }
	part := image.Rect(floor(x0), floor(y0), ceil(x1), ceil(y1)).Intersect(p.image.Bounds())
	p.origin = part.Min
	p.raster.Reset(part.Dx(), part.Dy())
	return !part.Empty()
}

func (p *painter) place(x, y float64) (float32, float32) {
	return float32(x*pngScale - float64(p.origin.X)), float32(y*pngScale - float64(p.origin.Y))
}

// fill ends the path.
func (p *painter) fill(with paint) {
	where := p.raster.Bounds().Add(p.origin)
	if with != hue {
		p.raster.Draw(p.image, where, image.NewUniform(p.palette[with].rgba()), image.Point{})
		return
	}
	mask := image.NewAlpha(p.raster.Bounds())
	p.raster.DrawOp = draw.Src
	p.raster.Draw(mask, mask.Bounds(), image.Opaque, image.Point{})
	p.raster.DrawOp = draw.Over
	// All rows use one row of the gradient, as wide as the path.
	row := image.NewRGBA(image.Rect(0, 0, where.Dx(), 1))
	for x := range where.Dx() {
		row.SetRGBA(x, 0, p.hue.at(float64(x)/float64(where.Dx())))
	}
	for y := range where.Dy() {
		strip := image.Rect(where.Min.X, where.Min.Y+y, where.Max.X, where.Min.Y+y+1)
		draw.DrawMask(p.image, strip, row, image.Point{}, mask, image.Pt(0, y), draw.Over)
	}
}

// at mixes the gradient's colours.
func (g gradient) at(part float64) color.RGBA {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*part)) }
	a, b := g.from.rgba(), g.to.rgba()
	return color.RGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 0xff}
}
