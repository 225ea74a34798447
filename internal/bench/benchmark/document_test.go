package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAPartOfTheDocsIsReplaced(t *testing.T) {
	const page = "before\n<!-- bench:size -->\n\nold\n\n<!-- /bench:size -->\nafter\n"
	once, err := replacePart(page, "size", "new\n")
	if want := strings.Replace(page, "old", "new", 1); err != nil || once != want {
		t.Errorf("%q, %v", once, err)
	}
	if again, err := replacePart(once, "size", "new\n"); err != nil || again != once {
		t.Errorf("%q, %v", again, err)
	}
	for _, wrong := range []string{"", "<!-- bench:size -->\n", "<!-- /bench:size -->\n<!-- bench:size -->\n"} {
		if _, err := replacePart(wrong, "size", "new"); err == nil {
			t.Errorf("%q is taken for a page with that part", wrong)
		}
	}
}

// What is measured has its place in the docs.
func TestTheDocsHaveAPlaceForEveryPart(t *testing.T) {
	b := &bencher{options: options{docs: t.TempDir()}}
	for _, page := range []string{"benchmarks.md", "scaling.md"} {
		original, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(b.docs, page), original, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range parts {
		if err := b.document(p, "what "+p.name+" measured"); err != nil {
			t.Error(err)
		}
	}
	for _, p := range parts {
		changed, err := os.ReadFile(filepath.Join(b.docs, cmp.Or(p.page, "benchmarks.md")))
		if !strings.Contains(string(changed), "\nwhat "+p.name+" measured\n") {
			t.Errorf("%s is not in the docs, %v", p.name, err)
		}
	}
	if err := (&bencher{}).document(parts[0], ""); err != nil {
		t.Errorf("without docs nothing is written: %v", err)
	}
}
