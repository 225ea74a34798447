package importer

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/usecase/leaderboard"
)

// readCSV reads a table whose first line has the names of its columns.
func (f *fileReader) readCSV(content *bufio.Reader, prefix []byte) error {
	header := findColumns(firstLine(prefix))
	if header == nil { // there are blank lines before the names
		header = findColumns(firstLine([]byte(strings.TrimSpace(string(prefix)))))
	}
	if header.twice != "" {
		return f.fail(1, "two columns may be the "+header.twice+"; remove or rename one of them", nil)
	}
	in := newInput(lineFeeds(content, prefix))
	records := csv.NewReader(in)
	records.Comma, records.FieldsPerRecord, records.ReuseRecord = header.comma, -1, true
	for first := true; ; first = false {
		record, err := records.Read()
		if errors.Is(err, io.EOF) {
			if header.has(columnPresent) && header.has(columnUpdated) && in.last != '\n' { // other programs may write tables without a last line feed
				f.report.warn("%s is an export of Levelboard that ends within a line: it is not complete. Get it again.", f.found().Name)
			}
			return nil
		}
		in.done(records.InputOffset())
		if err != nil {
			if err = f.badRecord(err); err != nil {
				return err
			}
			continue
		}
		if first || blank(record) {
			continue
		}
		line, _ := records.FieldPos(0)
		row, why := f.tableRow(header, record)
		if err := f.emit(line, row, why); err != nil {
			return err
		}
	}
}

// badRecord skips a line with an unmatched quote. It fails if a quote opens a
// field and does not close it, since the field would swallow all later lines.
func (f *fileReader) badRecord(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, errLong):
		return f.fail(0, "a line is longer than 1 MiB, or a quote is not closed", nil)
	case !errors.As(err, &parse):
		return f.fail(0, "the file cannot be read", err)
	case parse.Line != parse.StartLine:
		return f.fail(parse.StartLine, "a quote is not closed", nil)
	}
	return f.skip(parse.StartLine, ReasonQuotes)
}

func blank(record []string) bool {
	return !slices.ContainsFunc(record, func(s string) bool { return strings.TrimSpace(s) != "" })
}

func (f *fileReader) tableRow(c *columns, record []string) (Row, Reason) {
	if len(record) != c.count {
		return Row{}, ReasonFields
	}
	for _, field := range record {
		if !utf8.ValidString(field) {
			return Row{}, ReasonUTF8
		}
	}
	row, why := newRow(strings.TrimPrefix(c.number(record, columnID), "'"))
	if why != "" {
		return row, why
	}
	row.Shown = levelOf(c.number(record, columnLevel))
	if c.has(columnXP) {
		var xp int64
		if xp, why = tableNumber(c.number(record, columnXP)); why != "" {
			return row, why
		}
		row.gain(xp)
	} else if why = f.fromLevel(&row); why != "" {
		return row, why
	}
	if count := c.number(record, columnMessages); count != "" {
		n, why := tableNumber(count)
		if why != "" || n > maxMessageCount {
			return row, ReasonMessages
		}
		row.MessageCount = &n
	}
	user := leaderboard.User{Username: c.name(record, columnName), Discriminator: c.name(record, columnDiscriminator)}
	if !c.has(columnDiscriminator) && strings.Contains(user.Username, "#") {
		user = tagged(user.Username, nil)
	}
	user.GlobalName, user.Avatar = c.nullable(record, columnGlobalName), c.nullable(record, columnAvatar)
	row.User = f.user(user)
	return row, c.state(record, &row)
}

// fromLevel gives a member the minimum XP of the level.
func (f *fileReader) fromLevel(row *Row) Reason {
	if row.Shown == noLevel {
		return ReasonLevel
	}
	row.FromLevel = true
	row.gain(int64(f.o.Curve.XPFor(row.Shown)))
	return ""
}

// tableNumber reads a number of a table. Commas may separate thousands: 24,110. So might a point before three digits, which makes it ambiguous.
func tableNumber(text string) (int64, Reason) {
	digits, _, _ := strings.Cut(text, ".")
	groups := strings.Split(digits, ",")
	if len(groups) > 1 {
		if groups[0] == "" || groups[0][0] == '0' || len(groups[0]) > 3 || slices.ContainsFunc(groups[1:], func(g string) bool { return len(g) != 3 }) {
			return 0, ReasonNumber
		}
		return whole(strings.ReplaceAll(digits, ",", "") + text[len(digits):])
	}
	if groups = strings.Split(text, "."); len(groups) == 2 && len(groups[0]) <= 3 && groups[0] != "0" && len(groups[1]) == 3 && isDigits(groups[0]+groups[1]) {
		return 0, ReasonAmbiguous
	}
	return whole(text)
}

// state reads the columns that only Levelboard's exports have.
func (c *columns) state(record []string, row *Row) Reason {
	switch strings.ToLower(c.number(record, columnPresent)) {
	case "", "true":
	case "false":
		row.Present = false
	default:
		return ReasonPresent
	}
	row.Hidden, _ = hidden.Parse(strings.Fields(c.number(record, columnHidden))...)
	row.LastUpdated = readTime(c.number(record, columnUpdated))
	return ""
}
