package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// references are pages of facts that grow with the service.
var references = []string{"redis-keys.md", "metrics.md", "configuration.md", "bounds.md", "benchmarks.md"}

// notProse is a block of commands or of code, or a table of reference that a test writes.
var notProse = regexp.MustCompile("(?ms)^ *```.*?^ *```$|^<!-- \\w+: written by .*?^<!-- end of ")

// TestThePagesStayShort: whoever adds a page says less elsewhere. It counts prose: references, blocks of code, tables that a test writes, and
// the marks of tables and headings are no part of it.
func TestThePagesStayShort(t *testing.T) {
	const mostWords, mostLines = 20000, 150
	words := 0
	for _, pattern := range []string{"../../../docs/*.md", "../../../docs/adr/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) < 10 {
			t.Fatalf("%s: %d pages, %v", pattern, len(pages), err)
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
				t.Errorf("%s has %d lines, more than %d: cut or split it", filepath.Base(page), lines, mostLines)
			}
		}
	}
	t.Logf("%d words", words)
	if words > mostWords {
		t.Errorf("the pages have %d words, more than %d: cut what nobody needs", words, mostWords)
	}
}
