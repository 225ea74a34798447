package displayname

import "unicode/utf8"

// Cut shortens a text to so many characters, the last of them … if it was longer.
func Cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
