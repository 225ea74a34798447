package redisstore

import (
	"io/fs"
	"strings"
	"testing"
)

// Scripts use MAX_XP for the highest XP, a constant of package level, and never the number. Their lines fit a screen.
func TestScriptsHaveNoHighestXPOfTheirOwn(t *testing.T) {
	err := fs.WalkDir(scriptFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scriptFiles.ReadFile(path)
		if strings.Contains(string(text), "2147483647") {
			t.Errorf("%s has the highest XP as a number", path)
		}
		for line := range strings.Lines(string(text)) {
			if len(line) > 141 {
				t.Errorf("%s has a line of more than 140 characters: %s", path, line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(constants, ", 2147483647, ") {
		t.Errorf("scripts begin with %q", constants)
	}
}
