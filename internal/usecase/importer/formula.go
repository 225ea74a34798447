package importer

import "strings"

// formulaStarts are the characters that begin what a spreadsheet runs, and those after which it looks for them. The last four are what
// some take for the first four.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// risky reports whether a field begins as a formula, after any number of apostrophes. In a field that may be null, apostrophes alone are
// risky too, so that one of them can stand for an empty text.
func risky(field string, nullable bool) bool {
	bare := strings.TrimLeft(field, "'")
	if bare == "" {
		return nullable
	}
	return strings.IndexAny(bare, formulaStarts) == 0
}

// guard puts an apostrophe before a field that a spreadsheet would run. unguard takes it away, and nothing else.
func guard(field string, nullable bool) string {
	if risky(field, nullable) {
		return "'" + field
	}
	return field
}

func unguard(field string, nullable bool) string {
	if bare, ok := strings.CutPrefix(field, "'"); ok && risky(bare, nullable) {
		return bare
	}
	return field
}
