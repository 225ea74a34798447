package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The next `make bench` would overwrite edits of docs/benchmarks.md, which belong in its template.
func TestThePageFollowsItsTemplate(t *testing.T) {
	written, err := os.ReadFile("../../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(written)
	for _, text := range regexp.MustCompile(`{{[^}]*}}`).Split(page, -1) {
		_, after, found := strings.Cut(rest, strings.TrimSpace(text))
		if !found {
			t.Fatalf("docs/benchmarks.md lacks, or has in another place:\n%s", text)
		}
		rest = after
	}
	if n := strings.Count(string(written), "\n"); n >= 120 {
		t.Errorf("docs/benchmarks.md has %d lines, want less than 120", n)
	}
}
