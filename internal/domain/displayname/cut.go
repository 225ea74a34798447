package displayname

import "unicode/utf8"

// Cut shortens a text to so many characters; … stands for the rest.
func Cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
