package importer

import "strings"

const (
	// formulaStarts are the characters that begin a formula in a spreadsheet, or that it skips
	// before one. The last four are wide forms of the first four, which some spreadsheets accept.
	formulaStarts = "=+-@\t\r\n＝＋－＠"
	// cellEnds are where a spreadsheet may begin another cell within a field. In many
	// languages a semicolon separates cells, and then the quotes around a field mean nothing.
	cellEnds = ";\t\r\n"
)

// risky reports whether a cell begins like a formula, after any number of apostrophes. In a
// nullable field, apostrophes alone are risky too, so that one of them can stand for an empty text.
func risky(cell string, nullable bool) bool {
	bare := strings.TrimLeft(cell, "'")
	if bare == "" {
		return nullable
	}
	return strings.IndexAny(bare, formulaStarts) == 0
}

// guard puts an apostrophe before each cell of a field that a spreadsheet would run. unguard removes exactly these.
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

// eachCell replaces each cell of a field by the result of change; whole says that the cell is the
// whole field. A cell includes the character that ends it, so that an empty cell can be risky.
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
