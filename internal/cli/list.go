package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// listing is a list of the API, whose answers are {"<name>": [...], "next": ...}, and the table of it for people.
type listing[T any] struct {
	path, name string
	next       string // the query parameter that takes next; after if it is empty
	none       string // said when it is empty
	header     []string
	row        func(T) []string
}

// printList prints all pages of a list.
func printList[T any](ctx context.Context, p *program, flags *clientFlags, l listing[T]) error {
	client, err := p.client(flags)
	if err != nil {
		return err
	}
	items, err := client.list(ctx, l.path, cmp.Or(l.next, "after"), l.name)
	if err != nil {
		return err
	}
	if flags.json {
		document, err := json.Marshal(map[string]any{l.name: items, "next": nil}, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("print the list: %w", err)
		}
		return p.printJSON(document)
	}
	if len(items) == 0 {
		p.printf("%s\n", l.none)
		return nil
	}
	rows := make([][]string, len(items))
	for i, item := range items {
		shown, err := read[T](item)
		if err != nil {
			return err
		}
		rows[i] = l.row(shown)
	}
	return writeTable(p.Stdout, l.header, rows)
}

// list collects all pages of a list.
func (c *adminClient) list(ctx context.Context, path, parameter, name string) ([]jsontext.Value, error) {
	all := []jsontext.Value{}
	after := ""
	for {
		query := ""
		if after != "" {
			query = "?" + parameter + "=" + url.QueryEscape(after)
			if strings.Contains(path, "?") {
				query = "&" + query[1:]
			}
		}
		_, answer, err := c.call(ctx, http.MethodGet, path+query, nil)
		if err != nil {
			return nil, err
		}
		page, err := read[map[string]jsontext.Value](answer)
		if err != nil {
			return nil, err
		}
		items, err := read[[]jsontext.Value](page[name])
		if err != nil {
			return nil, err
		}
		next, err := read[*string](page["next"])
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if next == nil {
			return all, nil
		}
		if *next == after {
			return nil, fmt.Errorf("the list of %s does not end", c.base)
		}
		after = *next
	}
}

// read reads what the service answered.
func read[T any](answer []byte) (read T, err error) {
	if err := json.Unmarshal(answer, &read); err != nil {
		return read, fmt.Errorf("the service's answer cannot be read: %w", err)
	}
	return read, nil
}
