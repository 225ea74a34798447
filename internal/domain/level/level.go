// Package level converts between XP and levels. It needs nothing but the standard library.
package level

// XP is experience, 0 to MaxXP.
type XP int64

// Level is a member's level, 0 to Max.
type Level int

// The bounds of the API document.
const (
	MaxXP XP    = 2147483647
	Max   Level = 10000
)

// maxThreshold is the most XP that XPFor answers: the greatest whole number that every reader of JSON keeps exactly.
const maxThreshold XP = 1<<53 - 1
