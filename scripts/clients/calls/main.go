// Command calls writes the documentation's calls as TypeScript. Each curl command, and each document that is applied, becomes a call of
// openapi-fetch, checked by the description's types.
//
//	calls DESCRIPTION PAGE... >calls.ts
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strings"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "calls:", err)
		os.Exit(1)
	}
}

func run(to io.Writer, args []string) error {
	if len(args) < 2 {
		return errors.New("needs openapi.json and at least one page")
	}
	d, err := readDescription(args[0])
	if err != nil {
		return err
	}
	fmt.Fprint(to, "import createClient from \"openapi-fetch\";\nimport type { paths } from \"./schema.js\";\n\n"+
		"const client = createClient<paths>({ baseUrl: \"http://127.0.0.1:8080\" });\n\nexport async function calls() {\n")
	for _, page := range args[1:] {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		calls := callsOf(string(text))
		if len(calls) == 0 {
			return fmt.Errorf("%s has no command marked as a walk", page)
		}
		for _, c := range calls {
			written, err := d.typed(c)
			if err != nil {
				return fmt.Errorf("%s: %w", page, err)
			}
			fmt.Fprint(to, written)
		}
	}
	fmt.Fprint(to, "}\n")
	return nil
}

// call is a request on a page, with its answer if the page has all of it.
type call struct {
	method, address, body, answer string
}

// marked matches the commands that scripts/walk runs, and their output.
var marked = regexp.MustCompile("(?s)<!-- (walk|prints)[^>]*-->\n```\\w+\n(.*?)```")

var (
	curled  = regexp.MustCompile(`["']((?:\$LEVELBOARD_URL|http://127\.0\.0\.1:8080)/[^"']*)["']`)
	method  = regexp.MustCompile(`-X (\w+)`)
	data    = regexp.MustCompile(`(?s)-d '(.*?)'`)
	applied = regexp.MustCompile(`(?s)guild apply -f - <<'EOF'\n(.*?)\nEOF`)
)

func callsOf(page string) (calls []call) {
	for _, block := range marked.FindAllStringSubmatch(page, -1) {
		text := block[2]
		if last := len(calls) - 1; block[1] == "prints" {
			if last >= 0 && json.Valid([]byte(text)) { // not JSON if ... stands for anything
				calls[last].answer = strings.TrimSpace(text)
			}
			continue
		}
		if document := applied.FindStringSubmatch(text); document != nil {
			var guild struct{ ID string }
			if json.Unmarshal([]byte(document[1]), &guild) == nil {
				calls = append(calls, call{method: "PUT", address: "/admin/guilds/" + guild.ID, body: document[1]})
			}
		}
		if !strings.HasPrefix(text, "curl ") {
			continue
		}
		c := call{method: "GET", body: first(data, text)}
		if address, err := url.Parse(strings.Replace(first(curled, text), "$LEVELBOARD_URL", "", 1)); err == nil {
			c.address = address.RequestURI()
		}
		if given := first(method, text); given != "" {
			c.method = given
		}
		calls = append(calls, c)
	}
	return calls
}

func first(pattern *regexp.Regexp, text string) string {
	if found := pattern.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}
