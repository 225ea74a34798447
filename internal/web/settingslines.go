package web

import (
	"regexp"
	"strconv"
	"strings"
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

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\u00a0' || r == ',' || r == ';' }

// lineOf is the line of the form on which item n of a list stands, or 0 for a list that is not written in lines.
func (f settingsForm) lineOf(list string, n int) int {
	var written []writtenID
	switch parts := rowField.FindStringSubmatch(list); {
	case list == "ignoredChannelIds":
		written = idsOfLines(f.IgnoredChannels)
	case list == "ignoredRoleIds":
		written = idsOfLines(f.IgnoredRoles)
	case parts != nil:
		row, _ := strconv.Atoi(parts[2])
		if parts[1] == "multipliers" && row < len(f.Multipliers) {
			written = namedLines(f.Multipliers[row].Targets)
		} else if parts[1] == "roleRewards" && row < len(f.Rewards) {
			written = namedLines(f.Rewards[row].Roles)
		}
	}
	if n < len(written) {
		return written[n].Line
	}
	return 0
}

// rowField splits the name of a list that is in a row.
var rowField = regexp.MustCompile(`^(multipliers|roleRewards)\[(\d+)\]\.(?:targets|roles)$`)
