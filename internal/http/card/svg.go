package card

//go:generate go test -count=1 -run TestTheCardInTheDocsIsUpToDate . -update

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
)

// viewers is the medium of an SVG. It assumes that the viewer's fonts have
// all characters and are no wider than DejaVu Sans, the widest in common use.
func viewers() medium {
	return medium{ours: newTypesetter(nil), has: func(rune) bool { return true }, regular: 1.13, bold: 1.23}
}

// SVG draws the card as a self-contained image without script, a few KB of UTF-8, in the viewer's own fonts.
func SVG(d Data, theme Theme) []byte {
	s := compose(d, viewers())
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`, cardWidth, cardHeight)
	out.WriteString("\n<title>" + escape(s.title) + "</title>\n<style>\n")
	out.WriteString("text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",sans-serif}.b{font-weight:700}\n")
	writeStyle(&out, theme)
	fmt.Fprintf(&out, "</style>\n<defs><linearGradient id=\"hue\"><stop stop-color=\"%s\"/><stop offset=\"1\" stop-color=\"%s\"/></linearGradient>\n",
		s.hue.from.css(), s.hue.to.css())
	for i, l := range s.lines {
		if l.room > 0 {
			fmt.Fprintf(&out, `<clipPath id="c%d"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath>`+"\n",
				i, number(l.x), number(l.y-1.2*l.size), number(l.room), number(1.6*l.size))
		}
	}
	out.WriteString("</defs>\n")
	for _, b := range s.boxes {
		fmt.Fprintf(&out, `<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`+"\n",
			classes[b.paint], number(b.x), number(b.y), number(b.width), number(b.height), number(b.radius))
	}
	for i, l := range s.lines {
		writeLine(&out, i, l)
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

var classes = [...]string{
	surface: "surface", edge: "edge", ink: "ink", soft: "soft", track: "track",
	gold: "gold", silver: "silver", bronze: "bronze", white: "white", hue: "hue",
}

func writeStyle(out *bytes.Buffer, theme Theme) {
	out.WriteString(".hue{fill:url(#hue)}\n")
	if theme != Auto {
		writePalette(out, theme)
		return
	}
	writePalette(out, Light)
	out.WriteString("@media (prefers-color-scheme:dark){\n")
	writePalette(out, Dark)
	out.WriteString("}\n")
}

func writePalette(out *bytes.Buffer, theme Theme) {
	for p, c := range palettes[theme] {
		fmt.Fprintf(out, ".%s{fill:%s}", classes[p], c.css())
	}
	out.WriteByte('\n')
}

func writeLine(out *bytes.Buffer, i int, l line) {
	x, where, weight, clip := l.x, "start", "", ""
	switch l.anchor {
	case middle:
		x, where = l.x+l.length/2, "middle"
	case end:
		x, where = l.x+l.length, "end"
	}
	if l.heavy {
		weight = " b"
	}
	if l.room > 0 {
		clip = fmt.Sprintf(` clip-path="url(#c%d)"`, i)
	}
	fmt.Fprintf(out, `<text class="%s%s" x="%s" y="%s" font-size="%s" text-anchor="%s"%s>%s</text>`+"\n",
		classes[l.paint], weight, number(x), number(l.y), number(l.size), where, clip, escape(l.text))
}

func number(v float64) string {
	return strconv.FormatFloat(float64(int64(v*100+.5))/100, 'f', -1, 64)
}

func escape(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // a buffer never fails
	return out.String()
}
