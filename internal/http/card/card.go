// Package card draws a member's rank card as SVG and PNG. It reads no data except fonts. All cards take about the same time.
package card

import (
	"fmt"
	"hash/fnv"
	"image/color"
)

// Theme is the background of a card.
type Theme int

// The themes. In an SVG, Auto follows the viewer's preference. In a PNG, which cannot do that, it is Light.
const (
	Auto Theme = iota
	Light
	Dark
)

// cardWidth and cardHeight are a card's size in CSS pixels. A PNG has pngScale times as many.
const (
	cardWidth  = 720
	cardHeight = 216
	pngScale   = 2
)

// PNGWidth and PNGHeight are the size of a card's PNG in pixels.
const (
	PNGWidth  = cardWidth * pngScale
	PNGHeight = cardHeight * pngScale
)

// Data is the content of a card. Names may contain anything; they are cleaned, and cut to fit.
type Data struct {
	UserID     string // also determines the colour
	GlobalName string // if empty, the username is shown; without that, the id
	Username   string
	Guild      string

	Rank     int64 // from 1
	Level    int
	XP       int64
	Messages int64
	// NextLevelXP is the XP at which the next level begins. It is not above XP when there is no next level.
	NextLevelXP int64
	Progress    float64 // to the next level, in percent; limited to 0 to 100
}

// paint names what a part of the card is filled with.
type paint int

const (
	surface paint = iota
	edge
	ink
	soft
	track
	gold
	silver
	bronze
	white
	hue // the member's own gradient
)

// colour is red, green and blue, in the order of CSS.
type colour uint32

func (c colour) css() string { return fmt.Sprintf("#%06x", uint32(c)) }

func (c colour) rgba() color.RGBA {
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 0xff}
}

// palettes hold each paint except hue, for light and for dark. Text has a contrast of at least 4.5 to the surface.
var palettes = map[Theme][hue]colour{
	Light: {surface: 0xffffff, edge: 0xdfe2e8, ink: 0x16181d, soft: 0x5b6270, track: 0xe6e8ee, gold: 0x946200, silver: 0x5f6b7a, bronze: 0x9a4f1c, white: 0xffffff},
	Dark:  {surface: 0x17191e, edge: 0x2c3038, ink: 0xf3f4f6, soft: 0xa2a9b6, track: 0x2b2f38, gold: 0xffcf4a, silver: 0xc7d0dc, bronze: 0xe8a06a, white: 0xffffff},
}

// gradient runs from left to right.
type gradient struct{ from, to colour }

// hues are the members' colours. White has a contrast of at least 3 to them, enough for a large initial; they have as much to the bar's track.
var hues = []gradient{
	{0x4f46e5, 0x8b5cf6}, {0x2563eb, 0x6366f1}, {0x0369a1, 0x3b82f6}, {0x0f766e, 0x0891b2}, {0x15803d, 0x0d9488}, {0x4d7c0f, 0x15803d},
	{0xb45309, 0xca6a04}, {0xc2410c, 0xea580c}, {0xdc2626, 0xe11d48}, {0xbe185d, 0xe64980}, {0x9333ea, 0xd946ef}, {0x546178, 0x6b7b91},
}

// Hue returns the number of a user's colour, always the same for the same user, and the CSS colour
// at which its gradient begins. Pages use it too, so that a member has one colour everywhere.
func Hue(userID string) (number int, css string) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(userID))
	number = int(hash.Sum32() % uint32(len(hues)))
	return number, hues[number].from.css()
}

func hueOf(userID string) gradient {
	number, _ := Hue(userID)
	return hues[number]
}
