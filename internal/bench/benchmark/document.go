package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// document writes the text of a part to the docs, if they are to be written.
func (b *bencher) document(p part, text string) error {
	if b.docs == "" {
		return nil
	}
	path := filepath.Join(b.docs, cmp.Or(p.page, "benchmarks.md"))
	page, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the docs: %w", err)
	}
	changed, err := replacePart(string(page), p.name, text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}

// replacePart replaces what is between the markers of a part.
func replacePart(page, name, text string) (string, error) {
	begin, end := "<!-- bench:"+name+" -->\n", "<!-- /bench:"+name+" -->\n"
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("the docs have no line %q and after it %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after, nil
}
