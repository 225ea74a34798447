package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// printJSON prints what an endpoint answered, with a newline.
func (p *program) printJSON(answer []byte) error {
	_, err := fmt.Fprintf(p.Stdout, "%s\n", bytes.TrimRight(answer, "\n"))
	return err
}

// writeTable writes rows in aligned columns; what it is given must be printable.
func writeTable(w io.Writer, header []string, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if header != nil {
		fmt.Fprintln(table, strings.Join(header, "\t"))
	}
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// printable replaces what could move a terminal's cursor or break a table: names are made by users.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// count is "1 member", "2 members".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func joined[T ~string](list []T) string {
	if len(list) == 0 {
		return "none"
	}
	names := make([]string, len(list))
	for i, name := range list {
		names[i] = string(name)
	}
	return strings.Join(names, ", ")
}
