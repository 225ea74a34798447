package importer

import (
	"encoding/csv"
	"slices"
	"strings"
)

// column is the content of a table's column.
type column int

const (
	columnID column = iota
	columnXP
	columnLevel
	columnMessages
	columnName
	columnGlobalName
	columnDiscriminator
	columnAvatar
	columnPresent
	columnHidden
	columnUpdated
	columnCount
)

// columnNames are a column's name in errors, and the names that it may have in a file: in lower case, letters only.
var columnNames = [columnCount]struct {
	title string
	names []string
}{
	columnID:            {"user id", []string{"id", "userid", "memberid", "discordid"}},
	columnXP:            {"XP", []string{"xp", "totalxp", "exp", "totalexp", "experience", "score"}},
	columnLevel:         {"level", []string{"level", "lvl"}},
	columnMessages:      {"message count", []string{"messagecount", "messages", "totalmessages"}},
	columnName:          {"username", []string{"username", "name", "tag"}},
	columnGlobalName:    {"display name", []string{"globalname", "displayname"}},
	columnDiscriminator: {"discriminator", []string{"discriminator"}},
	columnAvatar:        {"avatar", []string{"avatar"}},
	columnPresent:       {"presence", []string{"present"}},
	columnHidden:        {"flag", []string{"hidden"}},
	columnUpdated:       {"time of the last update", []string{"lastupdated"}},
}

// columns are the positions of a table's columns.
type columns struct {
	comma rune
	count int
	at    [columnCount]int // -1 for a missing column
	twice string           // the name of a column that the table seems to have twice
}

// findColumns reads the first line of a table. It returns nil if there is no id, or neither XP nor level.
func findColumns(line []byte) *columns {
	for _, comma := range ",;\t|" {
		r := csv.NewReader(strings.NewReader(string(line)))
		r.Comma = comma
		names, err := r.Read()
		if err != nil {
			continue
		}
		c := &columns{comma: comma, count: len(names)}
		for i := range c.at {
			c.at[i] = -1
		}
		for i, name := range names {
			c.note(i, name)
		}
		if c.has(columnID) && (c.has(columnXP) || c.has(columnLevel)) {
			return c
		}
	}
	return nil
}

// note recognizes the column at index i by its name.
func (c *columns) note(i int, name string) {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-.", r) {
			return -1
		}
		return r
	}, strings.ToLower(strings.TrimPrefix(name, "\ufeff")))
	for is, column := range columnNames {
		switch {
		case !slices.Contains(column.names, name):
		case c.at[is] >= 0:
			c.twice = column.title
		default:
			c.at[is] = i
		}
	}
}

func (c *columns) has(is column) bool { return c.at[is] >= 0 }

func (c *columns) field(record []string, is column) string {
	if !c.has(is) {
		return ""
	}
	return record[c.at[is]]
}

// number returns a field without surrounding spaces.
func (c *columns) number(record []string, is column) string {
	return strings.TrimSpace(c.field(record, is))
}

// name returns a field without the apostrophes that guard added against formulas.
func (c *columns) name(record []string, is column) string {
	return unguard(strings.Clone(c.field(record, is)), false)
}

// nullable is name for a column in which an empty field means no value.
func (c *columns) nullable(record []string, is column) *string {
	field := c.field(record, is)
	if field == "" {
		return nil
	}
	field = unguard(strings.Clone(field), true)
	return &field
}
