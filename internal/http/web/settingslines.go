package web

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"levelboard/internal/domain/id"
)

// writtenID is an id as it stands in a text area, with the name behind it.
type writtenID struct {
	Line     int // from 1, as people count them: empty ones too
	ID, Name string
}

// namedLines reads a text area of one id a line, a space, and the name.
func namedLines(text string) []writtenID {
	var list []writtenID
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		written := writtenID{Line: n, ID: line}
		if end := strings.IndexFunc(line, isSpace); end >= 0 {
			written.ID, written.Name = line[:end], strings.TrimSpace(line[end:])
		}
		list = append(list, written)
	}
	return list
}

// idLike are numbers that can only be meant as ids, right or wrong, and not as part of a name.
var idLike = regexp.MustCompile(`^[0-9]{15,}$`)

// idsOfLines reads a text area of ids only. A line may be written as elsewhere, with a name that is not kept, or be several ids.
func idsOfLines(text string) []writtenID {
	var list []writtenID
	for _, line := range namedLines(strings.NewReplacer(",", " ", ";", " ").Replace(text)) {
		list = append(list, writtenID{Line: line.Line, ID: line.ID})
		for _, word := range strings.FieldsFunc(line.Name, isSpace) {
			if idLike.MatchString(word) {
				list = append(list, writtenID{Line: line.Line, ID: word})
			}
		}
	}
	return list
}

func isSpace(r rune) bool { return strings.ContainsRune(" \t\u00a0,;", r) }

// written is what stands in the lines of a field, or nothing for one that is not written in lines.
func (f settingsForm) written(field string) []writtenID {
	parts := rowField.FindStringSubmatch(field)
	if parts == nil {
		if strings.HasPrefix(field, "ignored") {
			return idsOfLines(f.Fields[field])
		}
		return nil
	}
	if row, _ := strconv.Atoi(parts[2]); row < len(f.Rows[parts[1]]) {
		return namedLines(f.Rows[parts[1]][row][parts[3]])
	}
	return nil
}

// linesNamed is how many wrong lines are named at most; others are counted.
const linesNamed = 6

// linesWithoutID names the lines whose ids are none, so that they can all be put right at once.
func linesWithoutID(written []writtenID) string {
	var lines []string
	for _, w := range written {
		if !id.Valid(w.ID) {
			lines = append(lines, strconv.Itoa(w.Line))
		}
	}
	lines = slices.Compact(lines) // there may be several ids on one
	last := len(lines) - 1
	switch {
	case last < 1:
		return "line " + strings.Join(lines, "")
	case last < linesNamed:
		return "lines " + strings.Join(lines[:last], ", ") + " and " + lines[last]
	default:
		return "lines " + strings.Join(lines[:linesNamed], ", ") + " and " + count(len(lines)-linesNamed) + " more"
	}
}
