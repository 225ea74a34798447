package audit

import (
	"regexp"

	"levelboard/internal/domain/id"
)

var (
	digits     = regexp.MustCompile(`\d+`)
	jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// Mentioned lists the ids that a text has as whole words.
func Mentioned(text string) (users []id.User) {
	for _, word := range digits.FindAllString(text, -1) {
		if id.Valid(word) {
			users = append(users, id.User(word))
		}
	}
	return users
}

// Rename puts name of each id in its place in a text.
func Rename(text string, name func(id.User) string) string {
	return digits.ReplaceAllStringFunc(text, func(word string) string { return name(id.User(word)) })
}

// RenameValue is Rename in the strings of a JSON value.
func RenameValue(value string, name func(id.User) string) string {
	return jsonString.ReplaceAllStringFunc(value, func(text string) string { return Rename(text, name) })
}
