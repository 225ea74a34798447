package importer

import "strings"

const (
	// formulaStarts are the characters that begin what a spreadsheet runs, and those after which it looks for them. The last four are what
	// some take for the first four.
	formulaStarts = "=+-@\t\r\n＝＋－＠"
	// cellEnds are where a spreadsheet may begin another cell within a field: in many languages a semicolon separates cells, and then the
	// quotes around a field mean nothing.
	cellEnds = ";\t\r\n"
)

// risky reports whether a cell begins as a formula, after any number of apostrophes. In a field that may be null, apostrophes alone are
// risky too, so that one of them can stand for an empty text.
func risky(cell string, nullable bool) bool {
	bare := strings.TrimLeft(cell, "'")
	if bare == "" {
		return nullable
	}
	return strings.IndexAny(bare, formulaStarts) == 0
}

// guard puts an apostrophe before each cell of a field that a spreadsheet would run. unguard removes only these.
func guard(field string, nullable bool) string {
	return eachCell(field, func(cell string, whole bool) string {
		if risky(cell, nullable && whole) {
			return "'" + cell
		}
		return cell
	})
}

func unguard(field string, nullable bool) string {
	return eachCell(field, func(cell string, whole bool) string {
		if bare, ok := strings.CutPrefix(cell, "'"); ok && risky(bare, nullable && whole) {
			return bare
		}
		return cell
	})
}

// eachCell puts in place of each cell of a field what change returns; whole says that it is all of the field. A cell has the end before
// which it begins at its end, so that one that is empty can still be risky.
func eachCell(field string, change func(cell string, whole bool) string) string {
	var all strings.Builder
	for rest, first := field, true; ; first = false {
		i := strings.IndexAny(rest, cellEnds)
		if i < 0 {
			all.WriteString(change(rest, first))
			return all.String()
		}
		all.WriteString(change(rest[:i+1], false))
		rest = rest[i+1:]
	}
}
