package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// references are pages of tables that grow with the service.
var references = []string{"redis-keys.md", "metrics.md", "configuration.md", "bounds.md", "benchmarks.md"}

// notProse matches blocks of commands or code, and tables that a test writes.
var notProse = regexp.MustCompile("(?ms)^ *```.*?^ *```$|^<!-- \\w+: written by .*?^<!-- end of ")

// TestThePagesStayShort bounds the words of prose, so that a new page replaces older text. It does not count references, code blocks, tables
// written by tests, and the marks of tables and headings.
func TestThePagesStayShort(t *testing.T) {
	const mostWords, mostLines = 20000, 150
	words := 0
	for _, pattern := range []string{"../../../docs/*.md", "../../../docs/adr/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) < 10 {
			t.Fatalf("%d pages match %s (%v), want at least 10", len(pages), pattern, err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(references, filepath.Base(page)) {
				for word := range bytes.FieldsSeq(notProse.ReplaceAll(text, nil)) {
					if len(bytes.Trim(word, "|-#")) > 0 {
						words++
					}
				}
			}
			if lines := bytes.Count(text, []byte("\n")); lines > mostLines {
				t.Errorf("%s has %d lines, want at most %d: cut or split it", filepath.Base(page), lines, mostLines)
			}
		}
	}
	t.Logf("the pages have %d words", words)
	if words > mostWords {
		t.Errorf("the pages have %d words, want at most %d: cut what nobody needs", words, mostWords)
	}
}
