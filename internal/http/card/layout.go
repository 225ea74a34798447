package card

import (
	"github.com/dustin/go-humanize"

	"levelboard/internal/domain/displayname"
)

// box is a rectangle with round corners. With a radius of half its size it is a circle.
type box struct {
	x, y, width, height, radius float64
	paint                       paint
	hue                         gradient // for the paint hue; zero means the scene's
}

// line is a line of text: clean, and no wider than its room.
type line struct {
	text   string
	x, y   float64 // of the left end of the baseline
	length float64 // in the widest of its fonts
	room   float64 // the maximum length; 0 for text that is short in any font
	size   float64
	heavy  bool
	anchor anchor
	paint  paint
}

// anchor says which point of a line stays in place when another font draws the line wider.
type anchor int

const (
	start anchor = iota
	middle
	end
)

// scene is a card before it is drawn: boxes, then lines on them.
type scene struct {
	title string
	hue   gradient
	boxes []box
	lines []line
}

const (
	left    = 196.0 // of all text
	right   = cardWidth - 40.0
	gap     = 28.0
	barTop  = 126.0
	barHigh = 16.0
)

// medium describes the fonts that a card will be drawn with.
type medium struct {
	ours *typesetter
	has  func(rune) bool
	// How much wider than our fonts they may draw a line.
	regular, bold float64
}

// drawn is the medium of a PNG, which is drawn with our own fonts.
func drawn(f *Fonts) medium {
	ours := newTypesetter(f)
	return medium{ours: ours, has: ours.has, regular: 1, bold: 1}
}

// composer places the content of a card.
type composer struct {
	scene
	medium medium
}

// compose lays out a card for these fonts.
func compose(d Data, m medium) scene {
	c := &composer{medium: m}
	name := displayName(d, m.has)
	c.hue = hueOf(d.UserID)
	c.title = title(name, d)
	c.boxes = append(c.boxes,
		box{x: .5, y: .5, width: cardWidth - 1, height: cardHeight - 1, radius: 24, paint: edge},
		box{x: 2, y: 2, width: cardWidth - 4, height: cardHeight - 4, radius: 22.5, paint: surface})
	c.avatar(initial(name, m.has))
	room := c.numbers(d) - gap - left
	size := 34.0
	if c.measure(name, size, true) > room {
		size = 26
	}
	c.put(line{text: c.cut(name, room, size, true), x: left, y: 98, room: room, size: size, heavy: true, paint: ink})
	c.put(line{text: c.cut(displayname.Clean(d.Guild), room, 16, false), x: left, y: 55, room: room, size: 16, paint: soft})
	c.bar(d.Progress)
	c.foot(d)
	return c.scene
}

func (c *composer) avatar(letter string) {
	c.disc(disc{x: 104, y: cardHeight / 2, radius: 62, letter: letter, size: 58})
}

// disc is a letter in a circle, in place of an avatar.
type disc struct {
	x, y, radius float64 // of its middle
	letter       string
	size         float64 // of the letter
	hue          gradient
}

func (c *composer) disc(d disc) {
	c.boxes = append(c.boxes, box{x: d.x - d.radius, y: d.y - d.radius, width: 2 * d.radius, height: 2 * d.radius, radius: d.radius, paint: hue, hue: d.hue})
	c.put(line{text: d.letter, x: d.x, y: d.y + .362*d.size, size: d.size, heavy: true, anchor: middle, paint: white})
}

// numbers puts rank and level at the right, and returns where they begin.
func (c *composer) numbers(d Data) float64 {
	level, rank := humanize.Comma(int64(d.Level)), "#"+humanize.Comma(d.Rank)
	size := 34.0
	if c.measure(level+rank, size, true) > 220 {
		size = 26
	}
	x := c.number("LEVEL", level, right, size, ink)
	return c.number("RANK", rank, x-gap, size, rankPaint(d.Rank))
}

func (c *composer) number(label, value string, x, size float64, p paint) float64 {
	c.put(line{text: label, x: x, y: 55, size: 13, heavy: true, anchor: end, paint: soft})
	c.put(line{text: value, x: x, y: 98, size: size, heavy: true, anchor: end, paint: p})
	return x - max(c.measure(label, 13, true), c.measure(value, size, true))
}

func rankPaint(rank int64) paint {
	switch rank {
	case 1:
		return gold
	case 2:
		return silver
	case 3:
		return bronze
	}
	return ink
}

func (c *composer) bar(progress float64) {
	full := box{x: left, y: barTop, width: right - left, height: barHigh, radius: barHigh / 2, paint: track}
	c.boxes = append(c.boxes, full)
	if progress > 0 {
		// A narrower box could not have round ends.
		full.width = max(barHigh, full.width*min(progress, 100)/100)
		full.paint = hue
		c.boxes = append(c.boxes, full)
	}
}

func (c *composer) foot(d Data) {
	const y, size = 173, 16
	next := "Highest level"
	if d.NextLevelXP > d.XP {
		next = humanize.Comma(d.NextLevelXP-d.XP) + " XP to level " + humanize.Comma(int64(d.Level)+1)
	}
	xp := humanize.Comma(d.XP) + " XP"
	c.put(line{text: xp, x: left, y: y, size: size, heavy: true, paint: ink})
	c.put(line{text: next, x: right, y: y, size: size, anchor: end, paint: soft})
	// A cut number would read as another number, so between long ones the messages take a line of their own.
	messages := line{text: messagesOf(d), x: left + c.measure(xp, size, true) + 18, y: y, size: size, paint: soft}
	messages.room = right - c.measure(next, size, false) - 16 - messages.x
	if c.measure(messages.text, size, false) > messages.room {
		messages.x, messages.y, messages.room = left, y+23, right-left
	}
	c.put(messages)
}

// put adds a line whose x is that of its anchor.
func (c *composer) put(l line) {
	l.length = c.measure(l.text, l.size, l.heavy)
	switch l.anchor {
	case middle:
		l.x -= l.length / 2
	case end:
		l.x -= l.length
	}
	c.lines = append(c.lines, l)
}

func (c *composer) measure(text string, size float64, heavy bool) float64 {
	wider := c.medium.regular
	if heavy {
		wider = c.medium.bold
	}
	_, length := c.medium.ours.shape(text, heavy)
	return length * size * wider
}

func (c *composer) cut(text string, room, size float64, heavy bool) string {
	return fit(text, room, func(s string) float64 { return c.measure(s, size, heavy) })
}

// title is the card in words, for people who cannot see it.
func title(name string, d Data) string {
	return name + ": rank " + humanize.Comma(d.Rank) + ", level " + humanize.Comma(int64(d.Level)) + ", " + humanize.Comma(d.XP) + " XP in " + displayname.Clean(d.Guild)
}

func messagesOf(d Data) string {
	if d.Messages == 1 {
		return "1 message"
	}
	return humanize.Comma(d.Messages) + " messages"
}
