package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTheFirstHourIsShort checks that docs/start.md has at most 15 commands, and that `make walk` runs each.
func TestTheFirstHourIsShort(t *testing.T) {
	page, err := os.ReadFile("../../../docs/start.md")
	if err != nil {
		t.Fatal(err)
	}
	const mostCommands = 15
	input := regexp.MustCompile(`(?s)<<'?EOF'?[^\n]*\n.*?\nEOF`)
	commands := 0
	for _, block := range regexp.MustCompile("(?s)\n([^\n]*)\n```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if block[1] != "<!-- walk: start -->" {
			t.Errorf("make walk does not run\n%s", block[2])
		}
		for line := range strings.Lines(input.ReplaceAllString(block[2], "")) {
			commands += strings.Count(line, " && ") + 1
		}
	}
	if commands == 0 || commands > mostCommands {
		t.Errorf("docs/start.md has %d commands, want 1 to %d", commands, mostCommands)
	}
}
