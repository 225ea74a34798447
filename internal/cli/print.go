package cli

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// show makes a request. With --json it prints the service's answer, else say prints it for people.
func show[T any](ctx context.Context, c *client, r request, say func(T) error) error {
	_, answer, err := c.call(ctx, r)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(answer)
	}
	found, err := read[T](answer)
	if err != nil {
		return err
	}
	return say(found)
}

// send makes a request whose answer is empty. Without --json it then prints done.
func (c *client) send(ctx context.Context, method, path, done string, args ...any) error {
	_, _, err := c.call(ctx, request{method: method, path: path})
	if err != nil || c.json {
		return err
	}
	return c.printf(done+"\n", args...)
}

// listing is a list of the API, with answers {"<name>": [...], "next": ...}, and how to print it as a table.
type listing[T any] struct {
	path, name string
	query      url.Values
	next       string // the query parameter that takes next
	none       string // printed when the list is empty
	header     []string
	row        func(T) []string
}

// list prints all pages of a list.
func list[T any](ctx context.Context, c *client, l listing[T]) error {
	query, all := url.Values{}, []jsontext.Value{}
	maps.Copy(query, l.query)
	for more := true; more; {
		_, answer, err := c.call(ctx, request{method: http.MethodGet, path: l.path + "?" + query.Encode()})
		if err != nil {
			return err
		}
		page, err := read[struct {
			Next  string                      `json:"next"` // empty for null
			Lists map[string][]jsontext.Value `json:",embed"`
		}](answer)
		if err != nil {
			return err
		}
		all = append(all, page.Lists[l.name]...)
		if more = page.Next != ""; more && page.Next == query.Get(l.next) {
			return fmt.Errorf("the list of %s does not end", c.base)
		}
		query.Set(l.next, page.Next)
	}
	if c.json {
		document := map[string]any{l.name: all}
		if l.next != "" {
			document["next"] = nil
		}
		answer, err := json.Marshal(document, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("print the list: %w", err)
		}
		return c.printJSON(answer)
	}
	if len(all) == 0 {
		return c.printf("%s\n", l.none)
	}
	rows := make([][]string, len(all))
	for i, item := range all {
		shown, err := read[T](item)
		if err != nil {
			return err
		}
		rows[i] = l.row(shown)
	}
	return c.table(l.header, rows)
}

// printf writes to standard output.
func (p *program) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(p.Stdout, format, args...)
	return err
}

// printJSON prints what an endpoint answered, with a newline.
func (p *program) printJSON(answer []byte) error {
	return p.printf("%s\n", bytes.TrimRight(answer, "\n"))
}

// table prints rows in aligned columns. Users choose names, so characters that could move a terminal's cursor or break the table are replaced.
func (p *program) table(header []string, rows [][]string) error {
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	if header != nil {
		fmt.Fprintln(table, strings.Join(header, "\t"))
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable(cell)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// printable replaces characters that could move a terminal's cursor or break a line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// count returns "1 member" or "2 members".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// at returns a time as tables show it.
func at(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func joined[T ~string](list []T) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
}
