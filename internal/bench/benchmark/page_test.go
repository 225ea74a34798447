package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Whoever edits docs/benchmarks.md by hand would lose it at the next `make bench`.
func TestThePageIsItsTemplate(t *testing.T) {
	written, err := os.ReadFile("../../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(written)
	for _, text := range regexp.MustCompile(`{{[^}]*}}`).Split(page, -1) {
		_, after, found := strings.Cut(rest, strings.TrimSpace(text))
		if !found {
			t.Fatalf("docs/benchmarks.md lacks, or has elsewhere:\n%s", text)
		}
		rest = after
	}
	if n := strings.Count(string(written), "\n"); n >= 120 {
		t.Errorf("%d lines are too many for a page", n)
	}
}
