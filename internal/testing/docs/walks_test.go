// Package docs_test checks what the documents say about the code, and no behaviour.
package docs_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sections list their places in order, however many.
var sections = []string{"Revoke", "Erasure"}

// TestTheWalksLeadSomewhere keeps docs/architecture.md true: ten walks of at most six files that exist and hold the names that are given for them.
func TestTheWalksLeadSomewhere(t *testing.T) {
	text, err := os.ReadFile("../../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Walks\n")
	section, _, _ = strings.Cut(section, "\n## ")
	walks := strings.Split(section, "\n**")[1:]
	if len(walks) != 10 {
		t.Errorf("there are %d walks, want 10", len(walks))
	}
	step := regexp.MustCompile("(?m)^\\d+\\. `[^`]+`: .*$")
	path := regexp.MustCompile("`(\\w+/[\\w/]+\\.(?:go|lua))`")
	for _, walk := range walks {
		name, _, _ := strings.Cut(walk, "**")
		name, _, _ = strings.Cut(name, ":")
		steps := step.FindAllString(walk, -1)
		if len(steps) == 0 || len(steps) > 6 && !slices.Contains(sections, name) {
			t.Errorf("%s: %d files, want 1 to 6", name, len(steps))
		}
		for _, s := range steps {
			var content []byte
			for _, named := range path.FindAllStringSubmatch(s, -1) {
				file, err := os.ReadFile(root + named[1])
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				content = append(content, file...)
			}
			for _, named := range regexp.MustCompile("`([A-Za-z]\\w*)`").FindAllStringSubmatch(s, -1) {
				if !bytes.Contains(content, []byte(named[1])) {
					t.Errorf("%s: no file of %q has %s", name, s, named[1])
				}
			}
		}
	}
}
