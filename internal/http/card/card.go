// Package card draws a member's rank card, as SVG and as PNG: data in, bytes out. It reads nothing and asks nobody, and the
// cost of a card does not depend on what is drawn on it.
package card

// Theme says on what a card is drawn.
type Theme int

// The themes. Auto follows the viewer's own preference where the format can (SVG), and is Light where it cannot.
const (
	Auto Theme = iota
	Light
	Dark
)

// Width and Height are a card's size in CSS pixels. A PNG has Scale times as many.
const (
	Width  = 720
	Height = 216
	Scale  = 2
)

// Data is what stands on a card. Names may hold anything; they are cleaned, and cut to the room that there is.
type Data struct {
	UserID     string // also chooses the colour
	GlobalName string // may be empty, and then the username is shown; without one the id
	Username   string
	Guild      string

	Rank     int64 // from 1
	Level    int
	XP       int64
	Messages int64
	// NextLevelXP is the XP at which the next level begins; not above XP when there is no next level.
	NextLevelXP int64
	Progress    float64 // of the way to the next level, in percent; what is outside 0 to 100 counts as the nearer end
}
