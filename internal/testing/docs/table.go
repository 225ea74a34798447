// Package docs tests statements of the documents.
package docs

import (
	"os"
	"strings"
	"testing"
)

// Table fails the test unless the page at path has the table between its marks. With update it writes the table there. command says how.
func Table(t *testing.T, path, begin, table, end, command string, update bool) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(content), begin)
	documented, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no marks around its table", path)
	}
	if documented == table {
		return
	}
	if !update {
		t.Fatalf("%s is not up to date: %s", path, command)
	}
	if err := os.WriteFile(path, []byte(before+begin+table+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
