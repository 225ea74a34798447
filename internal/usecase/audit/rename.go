package audit

import (
	"regexp"

	"levelboard/internal/domain/id"
)

var (
	digits     = regexp.MustCompile(`\d+`)
	jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// Mentioned lists the ids that are whole words of a text.
func Mentioned(text string) (users []id.User) {
	for _, word := range digits.FindAllString(text, -1) {
		if id.Valid(word) {
			users = append(users, id.User(word))
		}
	}
	return users
}

// Rename replaces each id in a text by the result of name.
func Rename(text string, name func(id.User) string) string {
	return digits.ReplaceAllStringFunc(text, func(word string) string { return name(id.User(word)) })
}

// RenameValue is Rename for the strings in a JSON value.
func RenameValue(value string, name func(id.User) string) string {
	return jsonString.ReplaceAllStringFunc(value, func(text string) string { return Rename(text, name) })
}
