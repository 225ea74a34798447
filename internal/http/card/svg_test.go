package card

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write docs/card.svg again")

func TestTheCardInTheDocsIsUpToDate(t *testing.T) {
	const path = "../../../docs/card.svg"
	drawn := SVG(ada, Auto)
	if *update {
		if err := os.WriteFile(path, drawn, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, drawn) {
		t.Errorf("docs/card.svg differs from the card drawn now; run go generate ./internal/http/card and look at it\n%s", drawn)
	}
}

// outline returns a card's elements and texts, and fails the test if the card is not well-formed XML.
func outline(t *testing.T, svg []byte) (elements, texts []string) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return elements, texts
		}
		if err != nil {
			t.Fatalf("the card is not well-formed: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			element := token.Name.Local
			for _, a := range token.Attr {
				element += " " + a.Name.Local
				if a.Name.Local == "class" {
					element += "=" + a.Value
				}
			}
			elements = append(elements, element)
		case xml.CharData:
			texts = append(texts, string(token))
		case xml.Comment, xml.ProcInst, xml.Directive:
			t.Fatalf("the card contains a %T, want only elements and text", token)
		}
	}
}

func FuzzSVG(f *testing.F) {
	for _, name := range hostile {
		f.Add(name, "ada", name)
		f.Add("", name, "Gophers")
	}
	f.Fuzz(func(t *testing.T, global, username, guild string) {
		svg := SVG(with(func(d *Data) { d.GlobalName, d.Username, d.Guild = global, username, guild }), Auto)
		elements, texts := outline(t, svg)
		plain, _ := outline(t, SVG(ada, Auto))
		if !slices.Equal(elements, plain) {
			t.Errorf("hostile names changed the card's elements to %v", elements)
		}
		for _, text := range texts {
			for _, r := range text {
				if r != '\n' && (unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r)) {
					t.Errorf("the control character %U got into the text %q", r, text)
				}
			}
		}
	})
}

// hostile are names that break a careless renderer.
var hostile = []string{
	`<script>alert(1)</script>`, `"><image href="https://example.org/x"/>`, `]]>&amp;&#0;`, `{}.surface{fill:red}</style>`,
	"\u202eevil\u202c", "a\x00b\x1b\x7f", "\xff\xfe\xed\xa0\x80", strings.Repeat("👨‍👩‍👧‍👦", 40), strings.Repeat("\u0301", 200), "a" + strings.Repeat("\u0335", 250),
	"مرحبا بالعالم", "שלום", "日本語テキスト", "\u200d", "\ufe0f", "🇩", "\uffff\ufffe\U0010ffff", " ", "\n\n", "ﷺ",
}

func TestSVGLoadsNothing(t *testing.T) {
	svg := string(SVG(crowded, Auto))
	for _, word := range []string{"href", "src=", "@import", "<script", "<image", "<foreignObject"} {
		if strings.Contains(svg, word) {
			t.Errorf("the card contains %s, want nothing that loads or runs", word)
		}
	}
	if n := strings.Count(strings.ReplaceAll(svg, "http://www.w3.org/2000/svg", ""), "http"); n != 0 {
		t.Errorf("the card refers to %d addresses, want none", n)
	}
}

func TestThemesOfSVG(t *testing.T) {
	for theme, want := range map[Theme]string{Light: palettes[Light][surface].css(), Dark: palettes[Dark][surface].css()} {
		svg := string(SVG(ada, theme))
		if !strings.Contains(svg, ".surface{fill:"+want+"}") || strings.Contains(svg, "prefers-color-scheme") {
			t.Errorf("theme %d: the surface is not %s, or depends on the viewer's preference", theme, want)
		}
	}
}
