package web

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// The form takes the cooldown in minutes or seconds; the document has milliseconds.
const (
	cooldown, cooldownUnit = "xpGainInterval", "xpGainInterval.unit"
	minutes, seconds       = "minutes", "seconds"
	maxCooldown            = 24 * time.Hour
)

// cooldownOf writes a cooldown in minutes when they are whole, and otherwise in seconds.
func cooldownOf(ms int64) (text, unit string) {
	if ms%60_000 == 0 {
		return strconv.FormatInt(ms/60_000, 10), minutes
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64), seconds
}

// cooldown is what is entered, to the nearest millisecond. A unit that was not sent is minutes. It is false for what is no number of a unit.
func (f settingsForm) cooldown() (ms int64, ok bool) {
	text := strings.TrimSpace(f.Fields[cooldown])
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	scale, ok := map[string]float64{"": 60_000, minutes: 60_000, seconds: 1000}[f.Fields[cooldownUnit]]
	return int64(math.Round(min(n, 2*maxCooldown.Seconds()) * scale)), ok
}

// cooldownInWords is the cooldown as a conflict shows it.
func (f settingsForm) cooldownInWords() string {
	if ms, ok := f.cooldown(); ok {
		return inWords(time.Duration(ms) * time.Millisecond)
	}
	return f.Fields[cooldown] + " " + f.Fields[cooldownUnit]
}
