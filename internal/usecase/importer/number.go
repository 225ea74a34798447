package importer

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/level"
)

// most is where amounts end. It is above every cap, so that larger amounts need not be told apart.
const most = 1 << 53

// whole reads a number that is not negative, rounded down. It accepts digits, and digits after a point, and no other notation.
func whole(text string) (int64, Reason) {
	digits, fraction, point := strings.Cut(text, ".")
	if !isDigits(digits) || point && !isDigits(fraction) {
		return 0, notWhole(text)
	}
	if digits = strings.TrimLeft(digits, "0"); len(digits) > 16 {
		return most, ""
	}
	n, err := strconv.ParseInt("0"+digits, 10, 64)
	if err != nil {
		return 0, ReasonNumber
	}
	return min(n, most), ""
}

// notWhole returns why whole rejects text.
func notWhole(text string) Reason {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "":
		return ReasonNoXP
	case err == nil && f < 0:
		return ReasonNegative
	case err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) && strings.ContainsAny(text, "eE"):
		return ReasonExponent
	}
	return ReasonNumber
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// badID returns why text is no user id.
func badID(text string) Reason {
	switch {
	case text == "":
		return ReasonNoID
	case notWhole(text) == ReasonExponent:
		return ReasonSpreadsheetID
	}
	return ReasonID
}

// literal returns a JSON string or number as text, and "" for null and an absent value. ok is false for other values.
func literal(v jsontext.Value) (text string, ok bool) {
	switch v.Kind() {
	case '"':
		unquoted, err := jsontext.AppendUnquote(nil, v)
		return strings.TrimSpace(string(unquoted)), err == nil
	case '0':
		return string(v), true
	}
	return "", len(v) == 0 || v.Kind() == 'n'
}

func readWhole(v jsontext.Value) (int64, Reason) {
	text, ok := literal(v)
	if !ok {
		return 0, ReasonNumber
	}
	return whole(text)
}

// readCount reads a message count. Rows may lack it.
func readCount(v jsontext.Value) (*int64, Reason) {
	text, ok := literal(v)
	if !ok {
		return nil, ReasonMessages
	}
	if text == "" {
		return nil, ""
	}
	n, why := whole(text)
	if why != "" || n > maxMessageCount {
		return nil, ReasonMessages
	}
	return &n, ""
}

// readLevel reads the level that a source shows, or noLevel if there is no valid one.
func readLevel(v jsontext.Value) level.Level {
	text, _ := literal(v)
	return levelOf(text)
}

func levelOf(text string) level.Level {
	if n, why := whole(text); why == "" && n <= int64(level.Max) {
		return level.Level(n)
	}
	return noLevel
}

// readID reads a user id. It rejects a number: a program that holds ids as floats has rounded it.
func readID(v jsontext.Value) (Row, Reason) {
	if v.Kind() == '0' {
		return Row{}, ReasonNumericID
	}
	text, ok := literal(v)
	if !ok {
		return Row{}, ReasonID
	}
	return newRow(text)
}
