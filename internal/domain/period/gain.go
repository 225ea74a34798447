package period

import (
	"errors"
	"strconv"
	"strings"
)

// Gain is what a member gained on a day; it may be negative.
type Gain struct {
	Day    Day   `json:"date"`
	Gained int64 `json:"gained"`
}

// errGains says that FormatGains did not write the text.
var errGains = errors.New("not a list of gains")

// FormatGains writes a member's gains as both stores keep them: 20782:350,20781:-20.
func FormatGains(gains []Gain) string {
	var text []byte
	for i, g := range gains {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(g.Day), 10)
		text = strconv.AppendInt(append(text, ':'), g.Gained, 10)
	}
	return string(text)
}

// ParseGains reads what FormatGains wrote; an empty text means no gains.
func ParseGains(text string) (gains []Gain, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, second, found := strings.Cut(part, ":")
		day, err := strconv.ParseInt(first, 10, 32)
		if err == nil && found {
			var g int64
			g, err = strconv.ParseInt(second, 10, 64)
			gains = append(gains, Gain{Day(day), g})
		}
		if err != nil || !found {
			return nil, errGains
		}
	}
	return gains, nil
}
