package main

import (
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
	original, err := os.ReadFile(filepath.Join("..", "..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bencher{options: options{docs: t.TempDir()}}
	path := filepath.Join(b.docs, "benchmarks.md")
	if err := os.WriteFile(path, original, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range allParts() {
		if err := b.document(name, "what "+name+" measured"); err != nil {
			t.Error(err)
		}
	}
	changed, err := os.ReadFile(path)
	for _, name := range allParts() {
		if !strings.Contains(string(changed), "\nwhat "+name+" measured\n") {
			t.Errorf("%s is not in the docs, %v", name, err)
		}
	}
	if err := (&bencher{}).document("size", ""); err != nil {
		t.Errorf("without docs nothing is written: %v", err)
	}
}
