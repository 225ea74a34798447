package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// description has the parts of an OpenAPI document that calls need.
type description struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Parameters map[string]parameter `json:"parameters"`
	} `json:"components"`
}

type parameter struct {
	Ref    string `json:"$ref"`
	Name   string `json:"name"`
	In     string `json:"in"`
	Schema struct {
		Type any `json:"type"`
	} `json:"schema"`
}

func readDescription(file string) (d description, err error) {
	encoded, err := os.ReadFile(file)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(encoded, &d)
}

// typed writes a call, with an assignment of its answer if that is known.
func (d description) typed(c call) (string, error) {
	address, err := url.Parse(c.address)
	if err != nil {
		return "", err
	}
	template, path, ok := d.match(address.Path, strings.ToLower(c.method))
	if !ok {
		return "", fmt.Errorf("%s %s is not in the description", c.method, c.address)
	}
	params := map[string]any{"path": path}
	if query := address.Query(); len(query) > 0 {
		if params["query"], err = d.query(template, c.method, query); err != nil {
			return "", err
		}
	}
	encoded, err := json.Marshal(params)
	if err != nil {
		return "", err
	}
	call := fmt.Sprintf("client.%s(%q, { params: %s", c.method, template, encoded)
	if c.body != "" {
		call += ", body: " + c.body
	}
	call += " })"
	if c.answer == "" {
		return "  await " + call + ";\n", nil
	}
	return fmt.Sprintf("  {\n    const { data } = await %s;\n    const answer: NonNullable<typeof data> = %s;\n    void answer;\n  }\n", call, c.answer), nil
}

// match finds the description's path with the method. Of two, it takes the one with fewer parameters.
func (d description) match(address, method string) (template string, params map[string]string, ok bool) {
	segments := strings.Split(address, "/")
	for candidate, operations := range d.Paths {
		parts := strings.Split(candidate, "/")
		if operations[method] == nil || len(parts) != len(segments) {
			continue
		}
		found, fits := map[string]string{}, true
		for i, part := range parts {
			if strings.HasPrefix(part, "{") {
				found[strings.Trim(part, "{}")] = segments[i]
			} else if part != segments[i] {
				fits = false
			}
		}
		if fits && (!ok || len(found) < len(params)) {
			template, params, ok = candidate, found, true
		}
	}
	return template, params, ok
}

// query returns the parameters, with numbers where the description has them.
func (d description) query(template, method string, given url.Values) (map[string]any, error) {
	var operation struct {
		Parameters []parameter `json:"parameters"`
	}
	if err := json.Unmarshal(d.Paths[template][strings.ToLower(method)], &operation); err != nil {
		return nil, err
	}
	kinds := map[string]any{}
	for _, p := range operation.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
		}
		kinds[p.Name] = p.Schema.Type
	}
	query := map[string]any{}
	for name := range given {
		query[name] = given.Get(name)
		if n, err := strconv.ParseInt(given.Get(name), 10, 64); err == nil && kinds[name] == "integer" {
			query[name] = n
		}
	}
	return query, nil
}
