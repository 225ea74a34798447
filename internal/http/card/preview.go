package card

import "github.com/dustin/go-humanize"

// PreviewWidth and PreviewHeight are the size of a board's preview in pixels. Sites show such pictures for links.
const (
	PreviewWidth  = 2 * previewWidth
	PreviewHeight = 2 * previewHeight
)

const (
	previewWidth, previewHeight = 600, 315
	previewLeft, previewRight   = 36.0, previewWidth - 36.0
)

// Board is the content of a board's preview. Names may contain anything, as on a card.
type Board struct {
	GuildID string
	Guild   string
	Members int64  // of the guild
	Ranked  int64  // members on the board
	Period  string // its name; empty for the board of all time
	Top     []Data // XP is what they gained in the period
}

// Preview draws a board as a dark PNG with its first three members. It takes as long as a card.
func (f *Fonts) Preview(b Board) ([]byte, error) {
	m := drawn(f)
	return paintScene(composePreview(b, m), m.ours, canvas{previewWidth, previewHeight, Dark})
}

func composePreview(b Board, m medium) scene {
	c := &composer{medium: m}
	c.hue = hueOf(b.GuildID)
	name := displayName(Data{GlobalName: b.Guild, UserID: b.GuildID}, m.has)
	c.boxes = append(c.boxes,
		box{width: previewWidth, height: previewHeight, paint: surface},
		box{width: previewWidth, height: 8, paint: hue})
	c.disc(disc{x: previewLeft + 30, y: 66, radius: 30, letter: initial(name, m.has), size: 30})
	const text = previewLeft + 78
	c.put(line{text: c.cut(name, previewRight-text, 28, true), x: text, y: 64, size: 28, heavy: true, paint: ink})
	about := b.Period
	if about == "" {
		about = humanize.Comma(b.Members) + " " + map[bool]string{true: "member", false: "members"}[b.Members == 1]
	}
	totals := " · " + humanize.Comma(b.Ranked) + " on the board"
	about = c.cut(about, previewRight-text-c.measure(totals, 16, false), 16, false)
	c.put(line{text: about + totals, x: text, y: 90, size: 16, paint: soft})
	for i, member := range b.Top[:min(len(b.Top), 3)] {
		c.place(member, b.Period, 116+float64(i)*56)
	}
	if len(b.Top) == 0 {
		c.put(line{text: "No one is ranked yet", x: previewLeft, y: 150, size: 18, paint: soft})
	}
	c.put(line{text: "Levelboard", x: previewRight, y: previewHeight - 12, size: 13, heavy: true, anchor: end, paint: soft})
	return c.scene
}

// place puts a member on a line: with XP and level, or what they gained in a period.
func (c *composer) place(d Data, period string, top float64) {
	c.boxes = append(c.boxes, box{x: previewLeft, y: top, width: previewRight - previewLeft, height: 48, radius: 12, paint: track})
	base := top + 31
	name := displayName(d, c.medium.has)
	c.put(line{text: humanize.Comma(d.Rank), x: previewLeft + 26, y: base, size: 20, heavy: true, anchor: middle, paint: rankPaint(d.Rank)})
	c.disc(disc{x: previewLeft + 68, y: top + 24, radius: 17, letter: initial(name, c.medium.has), size: 17, hue: hueOf(d.UserID)})
	level, xp := "Level "+humanize.Comma(int64(d.Level)), humanize.Comma(d.XP)+" XP"
	if period != "" {
		level, xp = "+"+xp, ""
	}
	c.put(line{text: level, x: previewRight - 18, y: base, size: 18, heavy: true, anchor: end, paint: ink})
	at := previewRight - 34 - max(c.measure(level, 18, true), 84)
	if xp != "" {
		c.put(line{text: xp, x: at, y: base, size: 16, anchor: end, paint: soft})
	}
	const left = previewLeft + 98
	room := at - c.measure(xp, 16, false) - 14 - left
	c.put(line{text: c.cut(name, room, 18, true), x: left, y: base, size: 18, heavy: true, paint: ink})
}
