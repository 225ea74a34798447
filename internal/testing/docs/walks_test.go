// Package docs_test checks what the documents say about the code.
package docs_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sections are walks that may have any number of files.
var sections = []string{"Revoke", "Erasure"}

// TestTheWalksLeadSomewhere checks the ten walks of docs/architecture.md: at most six files each, which exist and contain the given names.
func TestTheWalksLeadSomewhere(t *testing.T) {
	text, err := os.ReadFile("../../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Walks\n")
	section, _, _ = strings.Cut(section, "\n## ")
	walks := strings.Split(section, "\n**")[1:]
	if len(walks) != 10 {
		t.Errorf("docs/architecture.md has %d walks, want 10", len(walks))
	}
	step := regexp.MustCompile("(?m)^\\d+\\. `[^`]+`: .*$")
	path := regexp.MustCompile("`(\\w+/[\\w/]+\\.(?:go|lua))`")
	for _, walk := range walks {
		name, _, _ := strings.Cut(walk, "**")
		name, _, _ = strings.Cut(name, ":")
		steps := step.FindAllString(walk, -1)
		if len(steps) == 0 || len(steps) > 6 && !slices.Contains(sections, name) {
			t.Errorf("the walk %s has %d files, want 1 to 6", name, len(steps))
		}
		for _, s := range steps {
			var content []byte
			for _, named := range path.FindAllStringSubmatch(s, -1) {
				file, err := os.ReadFile(root + named[1])
				if err != nil {
					t.Errorf("a file of the walk %s: %v", name, err)
				}
				content = append(content, file...)
			}
			for _, named := range regexp.MustCompile("`([A-Za-z]\\w*)`").FindAllStringSubmatch(s, -1) {
				if !bytes.Contains(content, []byte(named[1])) {
					t.Errorf("the walk %s: no file of %q has %s", name, s, named[1])
				}
			}
		}
	}
}
