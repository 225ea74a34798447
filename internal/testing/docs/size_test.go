package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestThePagesStayShort: whoever adds a page says less elsewhere. Words are those of wc -w, the bars of tables included.
func TestThePagesStayShort(t *testing.T) {
	const mostWords, mostLines = 22000, 150
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
			words += len(bytes.Fields(text))
			if lines := bytes.Count(text, []byte("\n")); lines > mostLines {
				t.Errorf("%s has %d lines, more than %d: cut or split it", filepath.Base(page), lines, mostLines)
			}
		}
	}
	if words > mostWords {
		t.Errorf("the pages have %d words, more than %d: cut what nobody needs", words, mostWords)
	}
}
