package displayname

import "unicode/utf8"

// Cut shortens a text to at most that many characters. If it was longer, the last one is “…”.
func Cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
