// Package docs_test checks what the documents say about the code, and no behaviour.
package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTheWalksLeadSomewhere keeps docs/architecture.md true: six walks of at most six files that exist and hold the names that are given for them.
func TestTheWalksLeadSomewhere(t *testing.T) {
	const root = "../../../"
	text, err := os.ReadFile(root + "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Walks\n")
	section, _, _ = strings.Cut(section, "\n## ")
	walks := strings.Split(section, "\n**")[1:]
	if len(walks) != 6 {
		t.Errorf("there are %d walks, want 6", len(walks))
	}
	step := regexp.MustCompile("(?m)^\\d+\\. `([^`]+)`: (.*)$")
	for _, walk := range walks {
		name, _, _ := strings.Cut(walk, "**")
		steps := step.FindAllStringSubmatch(walk, -1)
		if len(steps) == 0 || len(steps) > 6 {
			t.Errorf("%s: %d files, want 1 to 6", name, len(steps))
		}
		for _, s := range steps {
			file, err := os.ReadFile(root + s[1])
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, named := range regexp.MustCompile("`([a-z]\\w*)`").FindAllStringSubmatch(s[2], -1) {
				if !strings.Contains(string(file), named[1]) {
					t.Errorf("%s: %s does not have %s", name, s[1], named[1])
				}
			}
		}
	}
}
